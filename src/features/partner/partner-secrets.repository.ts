import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { PartnerSecretEntity } from './partner.entity.js';

/** What a request may be signed with, as it is stored. */
export type SealedSecrets = Pick<PartnerSecretEntity, 'sealedSecret' | 'sealedPrevious' | 'previousUntil'>;

@Injectable()
export class PartnerSecrets {
  constructor(private readonly db: Db) {}

  /** Looks across workspaces, since it is the signature that says who sends. */
  async find(workspaceId: string): Promise<SealedSecrets | undefined> {
    const [row] = await this.db.system<SealedSecrets>('select * from app.find_partner_secret($1)', [
      workspaceId,
    ]);
    return row;
  }

  /** The secret of the workspace, in the open transaction; undefined while it has none. */
  async get(
    workspaceId: string,
  ): Promise<Pick<PartnerSecretEntity, 'sealedSecret' | 'previousUntil' | 'setAt'> | undefined> {
    const [row] = await this.db.query<PartnerSecretEntity>(
      'select sealed_secret, previous_until, set_at from partner_secrets where workspace_id = $1',
      [workspaceId],
    );
    return row;
  }

  /** That of the workspace as it is sealed; undefined while it has none. */
  async sealed(scope: Scope): Promise<string | undefined> {
    const [row] = await this.db.read<{ sealedSecret: string }>(
      scope,
      'select sealed_secret from partner_secrets where workspace_id = $1',
      [scope.workspaceId],
    );
    return row?.sealedSecret;
  }

  /** The workspace that the first start made. */
  async firstWorkspace(): Promise<string> {
    const [row] = await this.db.system<{ workspaceId: string }>(
      'select app.first_workspace() as workspace_id',
    );
    return row!.workspaceId;
  }

  /** What is stored, in the open transaction; who else asks for the same waits until it has ended. */
  async lockShared(): Promise<Pick<PartnerSecretEntity, 'sealedSecret' | 'sealedConfigured'> | undefined> {
    const { workspaceId } = this.db.unit.scope;
    const [, rows] = await this.db.unit.batch([
      {
        text: `select pg_advisory_xact_lock(hashtextextended('partner secret ' || $1, 1))`,
        values: [workspaceId],
      },
      {
        text: 'select sealed_secret, sealed_configured from partner_secrets where workspace_id = $1',
        values: [workspaceId],
      },
    ]);
    return (rows as PartnerSecretEntity[])[0];
  }

  /** Puts a secret in force; the one before it stays good until `previousUntil`. True when there was one. */
  async replace(
    sealedSecret: string,
    { setAt, previousUntil }: { setAt: number; previousUntil: number },
  ): Promise<boolean> {
    const [row] = await this.db.query<{ replaced: boolean }>(
      `insert into partner_secrets as kept (workspace_id, sealed_secret, set_at) values ($1, $2, $3)
       on conflict (workspace_id) do update set sealed_secret = excluded.sealed_secret, set_at = excluded.set_at,
         sealed_previous = kept.sealed_secret, previous_until = $4
       returning sealed_previous is not null as replaced`,
      [this.db.unit.scope.workspaceId, sealedSecret, new Date(setAt), new Date(previousUntil)],
    );
    return row!.replaced;
  }

  /** Remembers which configured value is, or was, in force. */
  noteConfigured(sealedConfigured: string): void {
    this.db.write('update partner_secrets set sealed_configured = $2 where workspace_id = $1', [
      this.db.unit.scope.workspaceId,
      sealedConfigured,
    ]);
  }
}
