import { Injectable } from '@nestjs/common';
import { type Id, newId } from '../../platform/kernel/ids.js';
import type { NeededInput, ValidAction } from '../capos/index.js';
import { decidedPacketOf, newPacket, type WorkPacketEntity, WorkPacketsReader } from '../directives/index.js';
import { PolicyPreview } from '../guardian/index.js';
import type { CapoRole, Priority } from '../terms/index.js';
import type { Preflight } from './preflight.js';

/** Whose action it would be. */
export interface AskedFor {
  workspaceId: string;
  teamId: Id<'team'> | null;
  capo: CapoRole | null;
  priority: Priority;
}

/** What would be decided about work packets of one draft that is stored nowhere. */
@Injectable()
export class PreviewPackets {
  constructor(
    private readonly preview: PolicyPreview,
    private readonly packets: WorkPacketsReader,
  ) {}

  async execute(
    packets: readonly WorkPacketEntity[],
    { workspaceId, priority }: { workspaceId: string; priority: Priority },
  ): Promise<Pick<Preflight, 'guardian' | 'previewed'>> {
    const decided = packets.map((packet) => ({ ...decidedPacketOf(packet, priority), workPacketId: null }));
    const { guardian, decisions } = await this.preview.of(workspaceId, decided, (standingOrderIds) =>
      this.packets.waitingAhead(workspaceId, standingOrderIds),
    );
    const previewed = packets.map(
      ({ title, actionType: type, target, reversibility, needsInput }, index) => ({
        packet: { title, type, target, reversibility, needsInput: needsInput.map(({ path }) => path) },
        decision: decisions[index]!.decision,
      }),
    );
    return { guardian, previewed };
  }
}

/** The work packet that an action would become; it is stored nowhere. */
export function packetFor(
  { title, needsInput }: { title: string; needsInput: NeededInput[] },
  action: Omit<ValidAction, 'ok'>,
  { workspaceId, teamId, capo }: { workspaceId: string; teamId: string | null; capo: CapoRole },
): WorkPacketEntity {
  return newPacket({ title, rationale: '', multipliers: {}, needsInput }, action, {
    workPacketId: newId('pkt'),
    directiveId: newId('dir'),
    workspaceId,
    teamId,
    capo,
    position: 0,
    createdAt: 0,
  });
}
