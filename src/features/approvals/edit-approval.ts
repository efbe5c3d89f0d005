import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, peopleBehind } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Db } from '../../platform/database/db.js';
import { Channel } from '../../platform/database/channel.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, NotFound, PreconditionRequired } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { type GuardianEntity, Guardians } from '../guardian/index.js';
import { about, checkEdit, quotedTitle } from './approval.js';
import { groupKeyOf } from './approval-group.js';
import type { RevisionChange, ApprovalRevision } from './approval-content.dto.js';
import type { ApprovalEntity } from './approval.entity.js';
import { ApprovalSubjects } from './approval-subjects.js';
import type { EditBody } from './approval-decisions.dto.js';
import { TELL_MEMBERS } from '../terms/index.js';
import { Approvals } from './approvals.repository.js';

/** Each keeps what stood there before, so that nothing anybody wrote is lost. */
const MAX_REVISIONS = 50;
const MAX_REVISION_BYTES = 2_000_000;
/** How many parts of work packets a receipt names; all of them stand in the revision. */
const LISTED_CHANGES = 50;

/**
 * A person changes what is sent, before it is approved. It takes the same locks as a decision, in the same order: of an
 * edit, an approval, a kill and an expiry each sees what the ones before it have done.
 */
@Injectable()
export class EditApproval {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly guardians: Guardians,
    private readonly approvals: Approvals,
    private readonly subjects: ApprovalSubjects,
    private readonly receipts: Receipts,
    private readonly channel: Channel,
    private readonly work: Work,
  ) {}

  /** @throws NotFound, Forbidden, PreconditionRequired; what {@link checkEdit} throws; what the subject refuses */
  async execute(
    caller: Caller,
    approvalId: string,
    { packets, add, remove, output, params }: EditBody,
    ifMatch: string | null,
  ): Promise<ApprovalEntity> {
    const [[guardian], [approval]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(caller.workspaceId),
      this.approvals.lockToEditStatement(caller.workspaceId, approvalId),
    ])) as [[GuardianEntity], [ApprovalEntity?]];
    if (!approval) throw new NotFound();
    requireRole(caller, approval.teamId, 'operator');
    if (ifMatch === null) throw new PreconditionRequired();
    const at = this.clock.now();
    checkEdit(approval, ifMatch, guardian.mode, at);

    const by = actorOf(caller);
    const people = peopleBehind(caller);
    const edit = {
      packets: packets ?? [],
      add: add ?? [],
      remove: remove ?? [],
      output: output ?? null,
      params: params ?? null,
    };
    const result = await this.subjects.of(approval).edit(approval, edit, { by, people, at, guardian });
    if (!result) return approval;
    const { changes, content, details } = result;

    const revision: Omit<ApprovalRevision, 'n'> = {
      author: 'person',
      by,
      at,
      contentHash: content.contentHash!,
      changes,
    };
    const edited: ApprovalEntity = {
      ...approval,
      ...content,
      groupKey: groupKeyOf({ ...content, capo: approval.capo }),
      revisions: withRevision(approval.revisions, revision),
      lastEditedBy: people,
      votes: {},
      // An editor cannot be the second pair of eyes.
      requesterIds: [...new Set([...approval.requesterIds, ...people])],
    };
    const voided = Object.keys(approval.votes).length;
    this.approvals.edit(approval, {
      ...content,
      groupKey: edited.groupKey,
      revisions: edited.revisions,
      lastEditedBy: people,
      requesterIds: edited.requesterIds,
    });
    this.receipts.append({
      actor: by,
      action: 'approval.edited',
      ...about(approval),
      summary: `${caller.name} edited the draft of ${quotedTitle(approval)}.${voided > 0 ? ' Members who had approved it have to read it again.' : ''}`,
      details: {
        before: approval.contentHash,
        contentHash: content.contentHash,
        revision: edited.revisions.at(-1)!.n,
        packets: edited.packets.length,
        requesterIds: edited.requesterIds,
        ...(voided > 0 && { votesVoided: voided }),
        ...named(changes),
        ...details,
      },
      guardianEpoch: guardian.epoch,
    });
    if (edited.contentHash !== approval.contentHash) this.work.enqueue(TELL_MEMBERS, { id: approvalId });
    this.channel.publish('approval', approvalId);
    return edited;
  }
}

/** @throws InvalidTransition when there would be more of them, or larger ones, than are kept */
function withRevision(
  revisions: readonly ApprovalRevision[],
  revision: Omit<ApprovalRevision, 'n'>,
): ApprovalRevision[] {
  const all = [...revisions, { n: (revisions.at(-1)?.n ?? 0) + 1, ...revision }];
  if (all.length > MAX_REVISIONS || Buffer.byteLength(JSON.stringify(all)) > MAX_REVISION_BYTES) {
    throw new InvalidTransition({
      message: `This draft has reached its limit of ${MAX_REVISIONS} edits, or of ${MAX_REVISION_BYTES / 1_000_000} MB of earlier texts; approve it, or reject it with "revise".`,
    });
  }
  return all;
}

/** Where it was changed, never what it says: receipts are read by more people than drafts are. */
function named(changes: readonly RevisionChange[]) {
  const listed = changes.map(({ workPacketId, change, paths }) => ({ workPacketId, change, paths }));
  return {
    changes: listed.slice(0, LISTED_CHANGES),
    ...(listed.length > LISTED_CHANGES && { changesOmitted: listed.length - LISTED_CHANGES }),
  };
}
