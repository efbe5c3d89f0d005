import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { InvalidTransition, ValidationFailed } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { GuardianService } from '../guardian/index.js';
import { INVITE_MAIL } from '../teams/index.js';
import { Workspaces } from '../workspaces/index.js';
import type { DeletionBody, DeletionStatus } from './tenancy.dto.js';
import { Deletions, Exports } from './tenancy.repository.js';
import { SendDeletionMail } from './send-deletion-mail.js';
import { DeletionBegun, DeletionRequested, ExportRequired, FirstWorkspace } from './tenancy.errors.js';

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
