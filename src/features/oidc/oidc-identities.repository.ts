import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import type { OidcIdentity } from './oidc-identity.js';

/** The account that somebody signs in to. */
export interface OidcAccount {
  userId: string;
  displayName: string;
  email: string;
}

type Who = Pick<OidcIdentity, 'issuer' | 'subject'>;

/** Identities belong to accounts, which belong to no workspace: functions of the database find and keep them. */
@Injectable()
export class OidcIdentities {
  constructor(private readonly db: Db) {}

  /** The account that this identity is bound to; joins the open transaction. */
  async find(workspaceId: string, { issuer, subject }: Who): Promise<OidcAccount | undefined> {
    const [account] = await this.db.read<OidcAccount>(
      { workspaceId, teamIds: 'all' },
      'select * from app.find_identity($1, $2)',
      [issuer, subject],
    );
    return account;
  }

  /** The account with this address, in the open transaction. */
  async findByEmail(email: string): Promise<OidcAccount | undefined> {
    const [account] = await this.db.query<Pick<OidcAccount, 'userId' | 'displayName'>>(
      'select user_id, display_name from app.find_account($1)',
      [email],
    );
    return account && { ...account, email };
  }

  /** Binds the identity to the account, in the open transaction. False when either is bound to another already. */
  async add({ issuer, subject }: Who, { userId }: Pick<OidcAccount, 'userId'>): Promise<boolean> {
    const [row] = await this.db.query<{ isNew: boolean }>('select app.add_identity($1, $2, $3) as is_new', [
      issuer,
      subject,
      userId,
    ]);
    return row!.isNew;
  }

  /** False when the sign-in with this state was completed, or tried to, before. */
  async spend(state: string, now: number, expiresAt: number): Promise<boolean> {
    const [row] = await this.db.system<{ isFirst: boolean }>(
      'select app.spend_oidc_state($1, $2, $3) as is_first',
      [sha256(state), new Date(now), new Date(expiresAt)],
    );
    return row!.isFirst;
  }
}
