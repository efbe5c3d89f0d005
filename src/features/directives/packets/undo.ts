import type { Actor } from '../../../platform/auth/caller.js';
import type { ActionResult } from '../../capos/index.js';
import type { WorkPacketEntity } from './work-packet.entity.js';

/** An executed packet as its undo sees it. */
export interface PacketToUndo extends Pick<
  WorkPacketEntity,
  'workPacketId' | 'workspaceId' | 'teamId' | 'directiveId' | 'capo'
> {
  /** Those of the compensation: the ids of what the packet has left behind. */
  params: Record<string, unknown>;
  /** Who asked for the revert. */
  by: Actor;
}

/** What came of an undo; what is `skipped` was undone already, or is gone. */
export type Undone =
  { outcome: 'done'; result: ActionResult } | { outcome: 'not_possible' | 'skipped'; reason: string };

/** An undo that leaves the program; `Packet` is what it needs of the packet. */
export interface OutsideUndo<Packet = PacketToUndo> {
  kind: 'outside';
  repeatable: boolean;
  run(packet: Packet, signal: AbortSignal): Promise<ActionResult>;
}

/** An undo within the database. */
interface InsideUndo {
  kind: 'inside';
  run(packet: PacketToUndo): Promise<Undone>;
  /** Why it is not possible as things stand, in a sentence; null, or left out: nothing is known that keeps it from it. */
  refusal?(): Promise<string | null>;
}

/** How a packet is undone; `inside` and `outside` as for an effect. */
export type Undo = InsideUndo | OutsideUndo;
