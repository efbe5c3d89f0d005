import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { newId } from '../../platform/kernel/ids.js';
import { cutText } from '../../platform/kernel/text.js';
import {
  type Draft,
  type DraftPacket,
  OutsideTargetsReader,
  engineOf,
  isActionType,
  parametersOf,
  validateAction,
} from '../capos/index.js';
import { newPacket } from './packets/work-packet.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import type { DirectiveEntity } from './directive.entity.js';

/** Checks what a capo proposes against the registry of action types: the registry is trusted, the draft is not. */
@Injectable()
export class CheckDraft {
  constructor(
    private readonly clock: Clock,
    private readonly targets: OutsideTargetsReader,
  ) {}

  /** The work packets of a draft, or why one is not one that this capo can make. */
  async execute(
    directive: Pick<DirectiveEntity, 'workspaceId' | 'directiveId' | 'teamId' | 'capo'>,
    draft: Draft,
  ): Promise<WorkPacketEntity[] | string> {
    const capo = directive.capo!;
    const { workspaceId, directiveId, teamId } = directive;
    const createdAt = this.clock.now();
    const targets = await this.targets.for(
      { workspaceId, teamIds: 'all' },
      draft.packets.map(({ type }) => type),
    );
    const packets: WorkPacketEntity[] = [];
    for (const [position, proposed] of draft.packets.entries()) {
      const lacking = proposed.needsInput.map(({ path }) => path);
      const validated = validateAction(engineOf(capo), proposed.type, proposed.params, { lacking, targets });
      if (!validated.ok) return invalid(proposed.type, validated.faults);
      if (!canBeSupplied(proposed)) {
        return `The capo asked for input that an action of the type ${proposed.type} has no parameter for.`;
      }
      const origin = {
        workPacketId: newId('pkt'),
        workspaceId,
        teamId,
        directiveId,
        position,
        capo,
        createdAt,
      };
      packets.push(newPacket(proposed, validated, origin));
    }
    return packets;
  }
}

/** What a draft lacks is a parameter of its action: nothing else could ever be supplied. */
function canBeSupplied({ type, needsInput }: DraftPacket): boolean {
  const known = isActionType(type) ? parametersOf(type) : [];
  return needsInput.every(({ path }) => known.some((name) => path === name || path.startsWith(`${name}.`)));
}

/** Names the parameters and says nothing of what a model wrote in them. */
function invalid(type: string, faults: readonly Fault[]): string {
  const action = `The capo proposed an action of the type ${cutText(type, 100)}`;
  if (faults.some(({ path }) => path === 'type')) return `${action}, which is outside its scope.`;
  const paths = [...new Set(faults.map(({ path }) => cutText(path, 100)))].slice(0, 5);
  return `${action} with invalid parameters: ${paths.join(', ')}.`;
}
