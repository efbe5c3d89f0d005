import type { NeededInput, ValidAction } from '../capos/index.js';
import { type WorkPacketEntity, newPacket } from '../directives/index.js';
import { newId } from '../../platform/kernel/ids.js';
import type { CapoRole } from '../terms/index.js';

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
