import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PinoLogger } from 'nestjs-pino';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { InvalidTransition, ValidationFailed } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { GuardianService } from '../guardian/index.js';
import { INVITE_MAIL } from '../teams/index.js';
import { FEWEST_DAYS, MOST_DAYS, RETENTION_DAYS, Workspaces } from '../workspaces/index.js';
import { SendDeletionMail } from './send-deletion-mail.js';
import type { DeletionBody, DeletionStatus } from './tenancy.dto.js';
import { DeletionBegun, DeletionRequested, ExportRequired, FirstWorkspace } from './tenancy.errors.js';
import { Deletions, ExpiredRows, Exports } from './tenancy.repository.js';

const REFUSALS = { first: FirstWorkspace, requested: DeletionRequested, exported: ExportRequired };

/** The end of a workspace: an owner asks for it, and any owner can take it back until its grace is over. */
@Injectable()
export class DeletionService {
  constructor(
    private readonly deletions: Deletions,
    private readonly exports: Exports,
    private readonly workspaces: Workspaces,
    private readonly guardian: GuardianService,
    private readonly mail: SendDeletionMail,
    private readonly work: Work,
    private readonly receipts: Receipts,
  ) {}

  /** Whether the workspace is going to be deleted, and its newest export. */
  async status({ workspaceId }: Caller): Promise<DeletionStatus> {
    const deletion = await this.deletions.find(workspaceId);
    const newest = await this.exports.newest(workspaceId);
    return {
      state: deletion ? 'deleting' : 'active',
      deletion: deletion
        ? { requestedBy: deletion.requestedBy, requestedAt: deletion.requestedAt, dueAt: deletion.dueAt }
        : null,
      export: newest
        ? {
            exportId: newest.exportId,
            askedBy: newest.askedBy,
            completedAt: newest.completedAt,
            sha256: newest.sha256,
            lines: newest.lines,
            bytes: newest.bytes,
          }
        : null,
    };
  }

  /**
   * Asks for the deletion of the caller's workspace. The kill switch halts what is under way, in the same transaction as the
   * chain is closed to everybody but the program itself: whatever an act was, it comes before the two or not at all.
   * @throws ValidationFailed unless the workspace is named twice, FirstWorkspace, ExportRequired, DeletionRequested
   */
  async request(caller: Caller, body: DeletionBody): Promise<void> {
    const { workspaceId } = caller;
    const { name: workspaceName } = await this.workspaces.facts(scopeOf(caller));
    const faults = (['name', 'confirm'] as const)
      .filter((path) => body[path] !== workspaceName)
      .map((path) => ({
        path,
        rule: 'isWorkspaceName',
        message: `${path} must be the name of this workspace: ${workspaceName}`,
      }));
    if (faults.length > 0) throw new ValidationFailed({ details: faults });
    const { changed } = await this.guardian.kill(caller, 'The workspace is going to be deleted.');
    const refusal = await this.deletions.request(actorOf(caller), changed);
    if (refusal !== null) throw new REFUSALS[refusal]();
    // Nobody can accept an invite now; what was to be mailed is mailed if the deletion is taken back.
    this.work.parkAll([INVITE_MAIL]);
    const { dueAt } = (await this.deletions.find(workspaceId))!;
    await this.mail.enqueue('requested');
    this.receipts.append({
      actor: actorOf(caller),
      action: 'workspace.deletion_requested',
      entity: { type: 'workspace', id: workspaceId },
      summary: `${caller.name} asked for the deletion of the workspace ${workspaceName}.`,
      details: { dueAt, engagedKill: changed },
    });
  }

  /**
   * Takes the deletion of the caller's workspace back. The kill switch stays engaged: whether anybody has wanted to stop work
   * meanwhile cannot be told, and work goes on when somebody reverts it.
   * @throws InvalidTransition when nobody asked for it, DeletionBegun
   */
  async withdraw(caller: Caller): Promise<void> {
    const outcome = await this.deletions.withdraw();
    if (outcome === 'none') {
      throw new InvalidTransition({ message: 'Nobody has asked for the deletion of this workspace.' });
    }
    if (outcome === 'begun') throw new DeletionBegun();
    this.receipts.append({
      actor: actorOf(caller),
      action: 'workspace.deletion_withdrawn',
      entity: { type: 'workspace', id: caller.workspaceId },
      summary: `${caller.name} took the deletion of the workspace ${caller.workspaceName} back.`,
    });
    this.work.unparkAll([INVITE_MAIL]);
    await this.mail.enqueue('withdrawn');
  }
}

/** Small enough that a run holds its locks for some tens of milliseconds. */
const ROWS_AT_ONCE = 1_000;
/** At most this many runs in a row, so that a large backlog is spread over the hours of a night. */
const RUNS_IN_A_ROW = 10;

const BOUNDS = Object.fromEntries(
  Object.entries(RETENTION_DAYS).map(([subject, standard]) => [
    subject,
    { standard, fewest: FEWEST_DAYS[subject as keyof typeof RETENTION_DAYS], most: MOST_DAYS },
  ]),
);

/** How many rows were deleted of each kind. */
type DeletedRows = Record<string, number>;

/** Deletes what is kept no longer (docs/retention.md), some at a time; several processes may do it at once. */
@Injectable()
export class DeleteExpired {
  constructor(
    private readonly expired: ExpiredRows,
    private readonly logger: PinoLogger,
  ) {}

  @Interval(60_000)
  async inBackground(): Promise<void> {
    // What fails now is deleted in a minute.
    await this.execute().catch((error: unknown) => {
      this.logger.warn(
        { err: error },
        'what is kept no longer could not be deleted; the next try follows in a minute',
      );
    });
  }

  async execute(): Promise<DeletedRows> {
    const all: DeletedRows = {};
    for (let run = 0; run < RUNS_IN_A_ROW; run++) {
      const rows = await this.expired.delete(ROWS_AT_ONCE, BOUNDS);
      for (const { subject, deleted } of rows) all[subject] = (all[subject] ?? 0) + deleted;
      if (rows.every(({ deleted }) => deleted < ROWS_AT_ONCE)) break;
    }
    return all;
  }
}
