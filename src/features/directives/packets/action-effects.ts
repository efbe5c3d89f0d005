import { Injectable } from '@nestjs/common';
import type { Action, ActionResult, ActionTypeName, ParamsOf } from '../../capos/action-types.js';
import type { CapoRole } from '../../terms/terms.js';

/** A packet as an effect sees it. */
export interface PacketToSend<T extends ActionTypeName = ActionTypeName> {
  workPacketId: string;
  workspaceId: string;
  teamId: string | null;
  directiveId: string;
  capo: CapoRole;
  params: ParamsOf<T>;
}

/**
 * How an action type takes effect. `inside`: rows of our own, written in the transaction that takes the packet up, so
 * it happens exactly once. `outside`: something that leaves the program; `repeatable` says whether doing it again
 * after a crash can be told from doing it once.
 */
export type Effect<T extends ActionTypeName = ActionTypeName> =
  | { kind: 'inside'; run(packet: PacketToSend<T>): Promise<ActionResult> }
  | {
      kind: 'outside';
      repeatable: boolean;
      run(packet: PacketToSend<T>, signal: AbortSignal): Promise<ActionResult>;
    };

/** Why an effect did not happen, for an operator's eyes. */
export class EffectFailed extends Error {
  constructor(
    readonly code: string,
    message: string,
    /** Whether another try may succeed, and cannot do anything twice. */
    readonly retryable: boolean,
  ) {
    super(message);
  }
}

/** Who carries out which action type. Features register what they can do. */
@Injectable()
export class ActionEffects {
  readonly #effects = new Map<string, Effect>();

  register<T extends ActionTypeName>(type: T, effect: Effect<T>): void {
    this.#effects.set(type, effect as unknown as Effect);
  }

  of(action: Action): Effect {
    const effect = this.#effects.get(action.type);
    if (!effect) throw new EffectFailed('NOT_AVAILABLE', `Nothing here carries out ${action.type}.`, false);
    return effect;
  }
}
