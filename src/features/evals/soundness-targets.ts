import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { OutsideTargetsReader } from '../capos/index.js';
import {
  type DirectiveEntity,
  Directives,
  type WorkPacketEntity,
  WorkPacketsReader,
} from '../directives/index.js';
import type { SoundnessTarget } from './soundness-target.js';

/** A stored work packet with all that its soundness depends on. */
export interface StoredPacket extends SoundnessTarget {
  packet: WorkPacketEntity;
  directive: DirectiveEntity;
}

/** Puts together what the soundness of a work packet depends on. */
@Injectable()
export class SoundnessTargets {
  constructor(
    private readonly packets: WorkPacketsReader,
    private readonly directives: Directives,
    private readonly targets: OutsideTargetsReader,
  ) {}

  /** @throws NotFound for one that is missing or outside the scope */
  async get(scope: Scope, workPacketId: string): Promise<StoredPacket> {
    const packet = isId('pkt', workPacketId) ? await this.packets.find(scope, workPacketId) : undefined;
    const directive = packet && (await this.directives.find(scope, packet.directiveId));
    if (!packet || !directive) throw new NotFound();
    const { workspaceId } = scope;
    const targets = await this.targets.for({ workspaceId, teamIds: 'all' }, [packet.actionType]);
    return { packet, directive, targets };
  }
}
