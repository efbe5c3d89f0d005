import type { ActionResult, ActionTypeName, ParamsOf } from '../../capos/index.js';
import type { CapoRole } from '../../terms/index.js';

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
  /** Of a mail: whom it goes to now, where others have it already. */
  recipients?: readonly string[];
}

/** What came of a mail for one of its recipients. */
export interface RecipientOutcome {
  address: string;
  outcome: 'accepted' | 'deferred' | 'refused';
  /** What the server answered. */
  answer: string;
  /** Unix milliseconds. */
  at: number;
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
export interface Failure {
  code: string;
  message: string;
  /** Whether another try may succeed, and cannot do anything twice. */
  retryable: boolean;
  /** What is known besides. */
  known: {
    /** What was answered. */
    answered?: { status: number; answer?: string };
    /** How many milliseconds the other side asks to wait at least. */
    waitMs?: number;
    /** The mail server has answered; it was not just unreachable. */
    hasReplied?: boolean;
    /** Nothing can be sent until a connector is healthy again, whenever that is. */
    waitsForConnector?: boolean;
  };
}

/** What came of one attempt, as its row keeps it; of a mail with what the server answered for each recipient. */
export type Outcome = { recipients?: readonly RecipientOutcome[] } & (
  { result: ActionResult } | { failure: Failure }
);

export class EffectFailed extends Error implements Failure {
  constructor(
    readonly code: string,
    message: string,
    readonly retryable: boolean,
    readonly known: Failure['known'] = {},
    readonly recipients?: readonly RecipientOutcome[],
  ) {
    super(message);
  }

  get outcome(): Outcome {
    const { code, message, retryable, known, recipients } = this;
    return { failure: { code, message, retryable, known }, ...(recipients && { recipients }) };
  }
}

/**
 * How a mail stands for each recipient after another attempt: who has accepted it has it; of the others the last answer
 * counts.
 */
export function recipientsAfter(
  before: readonly RecipientOutcome[],
  { recipients = [], ...outcome }: Outcome,
  at: number,
): RecipientOutcome[] {
  const told = new Map(before.map((one) => [one.address, one]));
  if (recipients.length === 0 && 'failure' in outcome) {
    const answer = outcome.failure.message;
    for (const one of before) if (one.outcome === 'deferred') told.set(one.address, { ...one, answer, at });
  }
  for (const one of recipients) {
    if (told.get(one.address)?.outcome !== 'accepted') told.set(one.address, one);
  }
  return [...told.values()];
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
