import { Injectable } from '@nestjs/common';
import type { Statement } from '../../../platform/database/batch.js';
import { Db } from '../../../platform/database/db.js';
import { columnsOf } from '../../../platform/database/table.js';
import { Clock } from '../../../platform/kernel/clock.js';
import type { WorkItem } from '../../../platform/work/work-item.js';
import { type GuardianEntity, Guardians, type OpenStep, Reverts } from '../../guardian/index.js';
import type { DirectiveStatus, Priority } from '../../terms/index.js';
import { Directives } from '../directives.repository.js';
import { type Envelope, isUnconfirmed, type Outcome } from './packet-effect.js';
import { PACKET_STATES } from './packet-states.js';
import { WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';

/** A packet that is about to leave, with what its directive says about it. */
export interface DuePacket extends WorkPacketEntity {
  priority: Priority;
  deadline: number | null;
  directiveStatus: DirectiveStatus;
  directiveText: string;
  /** Its directive has no other. */
  isOnly: boolean;
  /** The number of the last receipt of the workspace, read once the guardian was locked. */
  headSeq: number;
  /** By the database's clock, as decisions are. */
  now: number;
  /** What is known of its attempts, oldest first. */
  outcomes: { attempt: number; outcome: Outcome }[];
}

/** An attempt has begun, and nobody knows how it ended. */
export function isUnderWay({ status, sendingSince, attempts, outcomes }: DuePacket): boolean {
  if (status !== 'sending' || sendingSince === null) return false;
  const last = outcomes.find(({ attempt }) => attempt === attempts)?.outcome;
  return last === undefined || ('failure' in last && isUnconfirmed(last.failure.code));
}

/** An outcome that ends it, and was recorded without what follows from it. */
export function unfollowedOutcome(packet: DuePacket): Outcome | undefined {
  const { status, sendingSince, attempts, outcomes } = packet;
  const isBegun = status === 'sending' && sendingSince !== null;
  return outcomes.findLast(({ attempt, outcome }) =>
    'result' in outcome
      ? !outcome.recipients?.some((one) => one.outcome === 'deferred')
      : isBegun && attempt === attempts && !outcome.failure.retryable,
  )?.outcome;
}

/** What an attempt locks. */
interface Locked {
  guardian: GuardianEntity;
  /** Missing when it is not one that may be handed out. */
  packet: DuePacket | undefined;
}

/** Packets that may be handed out, each beside the guardian, which is locked first so that nothing begins after a kill. */
@Injectable()
export class DuePackets {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly guardians: Guardians,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
  ) {}

  /** For an attempt that begins: the directive is locked as well, since it decides about the packets beside this one. */
  async lockToBegin({ workspaceId, id }: WorkItem): Promise<Locked> {
    const [[guardian], , [packet]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      this.packets.lockDirectiveStatement(workspaceId, id),
      lockDue(workspaceId, id),
    ])) as [[GuardianEntity], unknown, [DuePacket?]];
    return { guardian, packet };
  }

  /** For an attempt that did not take effect. */
  async lock({ workspaceId, id }: WorkItem): Promise<Locked> {
    const [[guardian], [packet]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      lockDue(workspaceId, id),
    ])) as [[GuardianEntity], [DuePacket?]];
    return { guardian, packet };
  }

  /** For an attempt that has ended; its packet is written as the attempt knows it. */
  lockGuardian({ workspaceId }: DuePacket): Promise<GuardianEntity> {
    return this.guardians.lockShared(workspaceId);
  }

  /** Locks what an attempt that has ended depends on; the transaction fails (see isUnforeseen) where that has changed since it began. */
  assertForeseen({ workspaceId, beganEpoch, directiveId, workPacketId, teamId }: DuePacket): void {
    const { text, values } = this.guardians.lockSharedStatement(workspaceId);
    this.db.write(text, values!);
    this.db.write('select app.assert_only_packet($1, $2, $3, $4, $5)', [
      workspaceId,
      beganEpoch,
      directiveId,
      workPacketId,
      teamId,
    ]);
  }

  /** For one that has lost its work: the packet as others have left it, with its directive. */
  async lockLate({ workspaceId, workPacketId, directiveId }: DuePacket) {
    const guardian = await this.guardians.lockShared(workspaceId);
    const directive = (await this.directives.lock(workspaceId, directiveId))!;
    const packet = (await this.packets.lock(workspaceId, workPacketId))!;
    return { guardian, directive, packet };
  }

  /** Writes that the packet leaves now; answers it as it leaves. */
  markSending(begun: DuePacket, envelope: Envelope | null): DuePacket {
    const { attempts, beganEpoch, beganSeq } = begun;
    const sendingSince = begun.sendingSince ?? this.clock.now();
    this.packets.transition(begun, 'send', { attempts, beganEpoch, beganSeq, sendingSince, envelope });
    return { ...begun, status: 'sending', sendingSince, envelope };
  }
}

/** A packet that is to be undone, with its step of the revert, and the guardian, which is locked first. */
export interface DueUndo {
  guardian: GuardianEntity;
  packet: WorkPacketEntity;
  step: OpenStep;
}

/** What reverts have still to undo. */
@Injectable()
export class DueUndos {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly guardians: Guardians,
    private readonly packets: WorkPackets,
    private readonly reverts: Reverts,
  ) {}

  /** Nothing when the step has ended, or its revert was stopped before it was begun with. */
  async lock({ workspaceId, id }: WorkItem): Promise<DueUndo | undefined> {
    const [[guardian], , [packet], [step]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      ...this.packets.lockForUndoStatements(workspaceId, id),
      this.reverts.lockOpenStepStatement(workspaceId, id),
    ])) as [[GuardianEntity], unknown, [WorkPacketEntity], [OpenStep?]];
    return step && { guardian, packet, step };
  }

  /** For one that has lost its work: its step as others have left it. */
  async lockLate({ workspaceId, id }: WorkItem, { revertId, position }: OpenStep): Promise<DueUndo> {
    const [[guardian], , [packet], [step]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      ...this.packets.lockForUndoStatements(workspaceId, id),
      this.reverts.lockStepStatement({ workspaceId, revertId, position }),
    ])) as [[GuardianEntity], unknown, [WorkPacketEntity], [OpenStep]];
    return { guardian, packet, step };
  }

  /** Writes that the undo leaves now; answers its step as it leaves. */
  markBegun(step: OpenStep, attempts: number): OpenStep {
    const begunAt = step.begunAt ?? this.clock.now();
    this.reverts.updateStep(step, { attempts, begunAt });
    return { ...step, attempts, begunAt };
  }
}

function lockDue(workspaceId: string, workPacketId: string): Statement {
  return {
    text: `select ${columnsOf(WorkPacketEntity, { of: 'p' })}, d.priority, d.deadline,
        d.status as directive_status, d.text as directive_text, not exists (select from work_packets o
          where o.workspace_id = p.workspace_id and o.directive_id = p.directive_id
            and o.work_packet_id <> p.work_packet_id) as is_only, app.last_receipt_seq() as head_seq, app.clock() as now,
        coalesce((select jsonb_agg(jsonb_build_object('attempt', a.attempt, 'outcome', a.outcome) order by a.attempt)
          from outside_attempts a where a.workspace_id = p.workspace_id and a.work_packet_id = p.work_packet_id
            and a.revert_id = '' and a.event = 'ended'), '[]') as outcomes
      from work_packets p join directives d on d.workspace_id = p.workspace_id and d.directive_id = p.directive_id
      where p.workspace_id = $1 and p.work_packet_id = $2 and p.status in ${PACKET_STATES.sourcesSql('send')}
      for update of p`,
    values: [workspaceId, workPacketId],
  };
}
