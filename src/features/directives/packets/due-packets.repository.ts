import { Injectable } from '@nestjs/common';
import type { Statement } from '../../../platform/database/batch.js';
import { Db } from '../../../platform/database/db.js';
import { columnsOf } from '../../../platform/database/table.js';
import { Clock } from '../../../platform/kernel/clock.js';
import type { WorkItem } from '../../../platform/work/work-item.js';
import type { GuardianEntity } from '../../guardian/guardian.entity.js';
import { Guardians } from '../../guardian/guardians.repository.js';
import type { DirectiveStatus, Priority } from '../../terms/terms.js';
import type { Envelope } from './packet-effect.js';
import { PACKET_STATES } from './packet-states.js';
import { WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';

/** A packet that is about to leave, with what its directive says about it. */
export interface DuePacket extends WorkPacketEntity {
  priority: Priority;
  deadline: number | null;
  directiveStatus: DirectiveStatus;
  /** The number of the last receipt of the workspace, read once the guardian was locked. */
  headSeq: number;
  /** By the database's clock, as decisions are. */
  now: number;
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

  /** For an attempt that took effect; its packet is written as the attempt knows it. */
  lockGuardian({ workspaceId }: DuePacket): Promise<GuardianEntity> {
    return this.guardians.lockShared(workspaceId);
  }

  /** Writes that the packet leaves now; answers it as it leaves. */
  markSending(begun: DuePacket, envelope: Envelope | null): DuePacket {
    const { attempts, beganEpoch, beganSeq } = begun;
    const sendingSince = begun.sendingSince ?? this.clock.now();
    this.packets.transition(begun, 'send', { attempts, beganEpoch, beganSeq, sendingSince, envelope });
    return { ...begun, status: 'sending', sendingSince, envelope };
  }
}

function lockDue(workspaceId: string, workPacketId: string): Statement {
  return {
    text: `select ${columnsOf(WorkPacketEntity, { of: 'p' })}, d.priority, d.deadline,
        d.status as directive_status, app.last_receipt_seq() as head_seq, app.clock() as now
      from work_packets p join directives d on d.workspace_id = p.workspace_id and d.directive_id = p.directive_id
      where p.workspace_id = $1 and p.work_packet_id = $2 and p.status in ${PACKET_STATES.sourcesSql('send')}
      for update of p`,
    values: [workspaceId, workPacketId],
  };
}
