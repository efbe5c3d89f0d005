import { Injectable } from '@nestjs/common';
import { type WorkPacketEntity, WorkPacketsReader, decidedPacketOf } from '../directives/index.js';
import { PolicyPreview } from '../guardian/index.js';
import type { Priority } from '../terms/index.js';
import type { Preflight } from './preflight.js';

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
