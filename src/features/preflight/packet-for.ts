import type { ValidAction } from '../capos/action-types.js';
import type { NeededInput } from '../capos/briefing.js';
import { newPacket } from '../directives/packets/work-packet.js';
import type { WorkPacketEntity } from '../directives/packets/work-packet.entity.js';
import { newId } from '../../platform/kernel/ids.js';
import type { CapoRole } from '../terms/terms.js';

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
