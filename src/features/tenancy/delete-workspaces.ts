import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PinoLogger } from 'nestjs-pino';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { type DeletedRows, type DeletedWorkspace, Deletions, WorkspaceList } from './tenancy.repository.js';
import { SendDeletionMail } from './send-deletion-mail.js';

const LOOK_EVERY_MS = 10_000;
/** Small enough that a call has its locks for some tens of milliseconds. */
const ROWS_AT_ONCE = 1_000;

/**
 * Warns the owners of workspaces that are going to be deleted, and deletes those whose grace is over, some rows at a time.
 * Each call of the database's function is a transaction of its own, so a process may end between any two, and several may
 * be at it: one has its way, the others look again.
 */
@Injectable()
export class DeleteWorkspaces {
  #running = false;

  constructor(
    private readonly config: Config,
    private readonly db: Db,
    private readonly list: WorkspaceList,
    private readonly deletions: Deletions,
    private readonly mail: SendDeletionMail,
    private readonly receipts: Receipts,
    private readonly logger: PinoLogger,
  ) {}

  @Interval(LOOK_EVERY_MS)
  async inBackground(): Promise<void> {
    if (this.config.processRole === 'api' || this.#running) return;
    this.#running = true;
    // What fails now goes on with the next look.
    await this.execute().catch((error: unknown) => {
      this.logger.warn({ err: error }, 'workspaces could not be deleted; the next try follows in 10 s');
    });
    this.#running = false;
  }

  async execute(rowsAtOnce = ROWS_AT_ONCE): Promise<void> {
    for (const { workspaceId, step } of await this.deletions.due()) {
      try {
        if (step === 'warn') await this.warn(workspaceId);
        else await this.delete(workspaceId, rowsAtOnce);
      } catch (error) {
        // One that cannot be deleted keeps no other from it.
        this.logger.warn(
          { err: error, workspaceId, step },
          'a workspace could not be deleted; the next try follows in 10 s',
        );
      }
    }
  }

  private async warn(workspaceId: string): Promise<void> {
    await this.db.transaction({ workspaceId, teamIds: 'all' }, async () => {
      const dueAt = await this.deletions.warn();
      if (dueAt === null) return;
      await this.mail.enqueue('ending');
      this.receipts.append({
        actor: SYSTEM,
        action: 'workspace.deletion_announced',
        entity: { type: 'workspace', id: workspaceId },
        summary: 'The workspace is going to be deleted within a day; its owners are told.',
        details: { dueAt },
      });
    });
  }

  private async delete(workspaceId: string, rowsAtOnce: number): Promise<void> {
    const first = await this.list.first();
    for (;;) {
      const { busy, gone, deleted } = await this.deleteSome(first, workspaceId, rowsAtOnce);
      if (deleted) this.logger.info({ workspaceId, rows: deleted.rows }, 'a workspace was deleted');
      if (busy || gone || deleted) return;
    }
  }

  /** With the last rows goes the receipt, in the chain of the first workspace, which stays. */
  private deleteSome(first: string, workspaceId: string, limit: number): Promise<DeletedRows> {
    return this.db.transaction({ workspaceId: first, teamIds: 'all' }, async () => {
      const done = await this.deletions.deleteRows(workspaceId, limit);
      if (done.deleted) this.record(workspaceId, done.deleted);
      return done;
    });
  }

  private record(workspaceId: string, deleted: DeletedWorkspace): void {
    const { name, requestedBy } = deleted;
    this.receipts.append({
      actor: SYSTEM,
      action: 'workspace.deleted',
      entity: { type: 'workspace', id: workspaceId },
      summary: `The workspace ${name} was deleted, as ${requestedBy.name} had asked.`,
      details: { ...deleted },
    });
  }
}
