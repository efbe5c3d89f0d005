import { Injectable } from '@nestjs/common';
import type { WorkPacketEntity } from './work-packet.entity.js';

export type SettledPacket = Pick<
  WorkPacketEntity,
  'workspaceId' | 'workPacketId' | 'directiveId' | 'teamId' | 'capo'
>;

/** Called in the transaction in which a packet came to its end. */
export type OutcomeListener = (packet: SettledPacket) => Promise<void>;

/** Tells the owner of the packets, which lies above this feature, that one has ended. */
@Injectable()
export class PacketOutcomes {
  #listener: OutcomeListener = () => Promise.resolve();

  listen(listener: OutcomeListener): void {
    this.#listener = listener;
  }

  settled(packet: SettledPacket): Promise<void> {
    return this.#listener(packet);
  }
}
