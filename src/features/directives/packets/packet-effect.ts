import type { ActionResult, ActionTypeName, ParamsOf } from '../../capos/action-types.js';
import type { CapoRole } from '../../terms/terms.js';

/** What is put around the data of an event that is posted; the same at every try. */
export interface Envelope {
  /** Unix milliseconds. */
  timestamp: number;
  requestId: string;
  receiptHead: { seq: number; hash: string };
}

/** A packet as an effect sees it; `Params` are those of its action, or of what undoes it. */
export interface PacketToSend<Params = ParamsOf<ActionTypeName>> {
  workPacketId: string;
  workspaceId: string;
  teamId: string | null;
  directiveId: string;
  capo: CapoRole;
  params: Params;
  /** Null where the effect puts nothing around what it sends. */
  envelope: Envelope | null;
}

/** Rows of our own, written in the transaction that claims the packet, so it happens exactly once. */
interface InsideEffect<Params> {
  kind: 'inside';
  run(packet: PacketToSend<Params>): ActionResult | Promise<ActionResult>;
}

/** Something that leaves the program. */
export interface OutsideEffect<Params> {
  kind: 'outside';
  /** Whether doing it again after a crash can be told from doing it once. */
  repeatable: boolean;
  /** In the transaction that first marks the packet as sending: what is the same at every try. */
  seal?(workspaceId: string): Promise<Envelope>;
  run(packet: PacketToSend<Params>, signal: AbortSignal): Promise<ActionResult>;
}

/** How an action, or what undoes one, takes effect. */
export type Effect<Params = ParamsOf<ActionTypeName>> = InsideEffect<Params> | OutsideEffect<Params>;

/** Why an effect did not happen, for an operator's eyes. */
export class EffectFailed extends Error {
  constructor(
    readonly code: string,
    message: string,
    /** Whether another try may succeed, and cannot do anything twice. */
    readonly retryable: boolean,
    /** What is known besides: the answer of whoever refused, and how many milliseconds it asks to wait at least. */
    readonly known: { answered?: { status: number; answer?: string }; waitMs?: number } = {},
  ) {
    super(message);
  }
}

/**
 * Whether a failure with this code leaves open if the effect took place. All others say that it certainly did not: they
 * come from before it left, or from a receiver that refused it.
 */
export function isUnconfirmed(code: string | undefined): boolean {
  return code?.endsWith('UNCONFIRMED') ?? false;
}

export function asEffectFailed(error: unknown): EffectFailed {
  if (error instanceof EffectFailed) return error;
  // Not one of the failures the effect knows: whether anything happened cannot be told, so nothing is tried again.
  return new EffectFailed(
    'UNCONFIRMED',
    'It failed unexpectedly; it is not known whether it arrived.',
    false,
  );
}

/** The process that was sending it ended. */
export function processEnded(): EffectFailed {
  return new EffectFailed(
    'UNCONFIRMED',
    'The process ended while this was being sent; it is not known whether it arrived, so it is not sent again.',
    false,
  );
}
