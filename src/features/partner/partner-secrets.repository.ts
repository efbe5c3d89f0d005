import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { selectOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { PartnerSecretEntity } from './partner.entity.js';

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
  get(workspaceId: string): Promise<PartnerSecretEntity | undefined> {
    return this.db.findOne(this.db.unit.scope, PartnerSecretEntity, { workspaceId });
  }

  /** That of the workspace as it is sealed; undefined while it has none. */
  async sealed(scope: Scope): Promise<string | undefined> {
    const { workspaceId } = scope;
    return (await this.db.findOne(scope, PartnerSecretEntity, { workspaceId }))?.sealedSecret;
  }

  /** The workspace that the first start made. */
  async firstWorkspace(): Promise<string> {
    const [row] = await this.db.system<{ workspaceId: string }>(
      'select app.first_workspace() as workspace_id',
    );
    return row!.workspaceId;
  }

  /** What is stored, in the open transaction; who else asks for the same waits until it has ended. */
  async lockShared(): Promise<PartnerSecretEntity | undefined> {
    const { workspaceId } = this.db.unit.scope;
    const [, rows] = await this.db.unit.batch([
      {
        text: `select pg_advisory_xact_lock(hashtextextended('partner secret ' || $1, 1))`,
        values: [workspaceId],
      },
      selectOf(PartnerSecretEntity, { workspaceId }),
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
    const { workspaceId } = this.db.unit.scope;
    this.db.update(PartnerSecretEntity, { workspaceId }, { sealedConfigured });
  }
}
