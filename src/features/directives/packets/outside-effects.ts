import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/kernel/clock.js';
import { newId } from '../../../platform/kernel/ids.js';
import { ReceiptChains } from '../../audit/index.js';
import type { ActionResult, ParamsOf } from '../../capos/index.js';
import {
  type Arguments,
  CallOperation,
  Connectors,
  faultsOfArguments,
  type LoadedConnector,
  type Operation,
  undoOf,
} from '../../connectors/index.js';
import { PostEvent, type Unsendable } from '../../webhooks/index.js';
import { EffectFailed, type Envelope, type OutsideEffect, type PacketToSend } from './packet-effect.js';
import type { OutsideUndo, PacketToUndo } from './undo.js';

/** The outcome of a request to any outside service. */
type OutsideAnswer =
  | { kind: 'answered'; status: number; retryAfterSeconds?: number; excerpt: string }
  | { kind: 'failed'; error: string; mayHaveArrived: boolean };

interface Rules {
  /** Begins each code: WEBHOOK_REFUSED, CALL_REFUSED. */
  code: 'WEBHOOK' | 'CALL';
  /** Who was asked, at the beginning of a sentence. */
  who: string;
  /** The same request may be made twice and takes effect once, or never takes any. */
  isRepeatable: boolean;
  /** It only reads. */
  isHarmless: boolean;
  /** An answer that refuses says that nothing was done, so that it may be asked again. */
  refusalMeansNothingDone: boolean;
}

/** The longest that a Retry-After is followed: work that waits longer is better looked at by a person. */
const MAX_WAIT_MS = 10 * 60_000;
/** Nothing has been done yet, says who answers so. */
const TRY_LATER = [408, 425, 429];

type Answered = Extract<OutsideAnswer, { kind: 'answered' }>;
type Failed = Extract<OutsideAnswer, { kind: 'failed' }>;

/** What undoes a call: an operation with its arguments, or why there are none. */
interface UndoParams {
  connector: string;
  operation: string;
  arguments?: Arguments;
  missing?: readonly string[];
  /** Why it cannot be called with what was answered. */
  unusable?: string;
  /** What the file said of the call and its undo when the call was made. */
  definition?: string;
}

/**
 * `http.call` and what undoes it. A call may be made again where the operator says that it is safe: it only reads, or the
 * service heeds `Idempotency-Key`. Any other that may have taken effect is not (docs/decisions/0017-outside-calls.md).
 */
@Injectable()
export class CallEffect {
  constructor(
    private readonly connectors: Connectors,
    private readonly calls: CallOperation,
  ) {}

  /** @throws EffectFailed where there is no such operation any more */
  async call(
    workspaceId: string,
    { connector: name, operation }: ParamsOf<'http.call'>,
  ): Promise<OutsideEffect<ParamsOf<'http.call'>>> {
    const connector = await this.connectorCalled(workspaceId, name);
    const found = required(connector.operations.get(operation), `${operation} of ${name}`);
    return {
      kind: 'outside',
      repeatable: found.repeatable,
      run: (packet, signal) => this.run(connector, found, packet, signal),
    };
  }

  /** @throws EffectFailed where it cannot be undone: the operation is gone or was changed, or its answer lacked something */
  async undo(
    workspaceId: string,
    params: Record<string, unknown>,
  ): Promise<OutsideUndo<Pick<PacketToUndo, 'workPacketId'>>> {
    // Written by `undoFor`, and by the registry before there is an answer.
    const undo = params as unknown as UndoParams;
    const { connector: name, operation, arguments: given, missing = [] } = undo;
    if (undo.unusable !== undefined) {
      const message = `The call cannot be undone by ${operation} of ${name}: ${undo.unusable}.`;
      throw new EffectFailed('UNDO_NOT_POSSIBLE', message, false);
    }
    if (given === undefined) {
      const lacking = missing.length > 0 ? missing.join(', ') : 'the call was not answered';
      const message = `The call cannot be undone by ${operation} of ${name}: its answer lacked ${lacking}.`;
      throw new EffectFailed('UNDO_NOT_POSSIBLE', message, false);
    }
    const connector = await this.connectorCalled(workspaceId, name);
    const found = required(connector.undos.get(operation), `${operation} of ${name}`);
    if (undo.definition !== found.definition) {
      const message = `The connectors file says something else of ${operation} of ${name} since the call was made.`;
      throw new EffectFailed('UNDO_NOT_POSSIBLE', message, false);
    }
    const [fault] = faultsOfArguments(found, given);
    if (fault) {
      const message = `The call cannot be undone by ${operation} of ${name}: ${fault.path} ${fault.message}.`;
      throw new EffectFailed('UNDO_NOT_POSSIBLE', message, false);
    }
    return {
      kind: 'outside',
      repeatable: found.repeatable,
      run: async ({ workPacketId }, signal) => {
        const answer = await this.answerTo(connector, found, given, `${workPacketId}-undo`, signal);
        return { status: answer.status };
      },
    };
  }

  private async run(
    connector: LoadedConnector,
    operation: Operation,
    { params, workPacketId }: PacketToSend<ParamsOf<'http.call'>>,
    signal: AbortSignal,
  ): Promise<ActionResult> {
    const answer = await this.answerTo(connector, operation, params.arguments, workPacketId, signal);
    return {
      status: answer.status,
      ...(answer.excerpt !== '' && { answer: answer.excerpt }),
      ...(operation.undo && { undo: this.undoFor(connector, operation, params.arguments, answer.json) }),
    };
  }

  private undoFor(
    connector: LoadedConnector,
    { undo, connector: name }: Operation,
    given: Arguments,
    response: unknown,
  ): UndoParams {
    const undone = connector.undos.get(undo!.operation)!;
    const found = undoOf(undo!, undone, given, response);
    return { connector: name, definition: undone.definition, ...found };
  }

  /** @throws EffectFailed unless it was a success */
  private async answerTo(
    connector: LoadedConnector,
    operation: Operation,
    given: Arguments,
    key: string,
    signal: AbortSignal,
  ) {
    const answer = await this.calls.execute({ connector, operation, arguments: given, key, signal });
    assertAccepted(answer, {
      code: 'CALL',
      who: `${operation.operation} of ${operation.connector}`,
      isRepeatable: operation.repeatable,
      isHarmless: operation.readOnly,
      refusalMeansNothingDone: false,
    });
    return answer;
  }

  private async connectorCalled(workspaceId: string, name: string): Promise<LoadedConnector> {
    return required(
      await this.connectors.find({ workspaceId, teamIds: 'all' }, name),
      `the connector ${name}`,
    );
  }
}

/** The one type that such an event has: no draft can pass for an event about what happened here. */
const POSTED_EVENT = 'work_packet.posted';

const UNSENDABLE: Readonly<Record<Unsendable, string>> = {
  no_destination: 'The webhook destination was deleted, or wants no more events.',
  other_address: 'The webhook destination has another name or address than when the event was allowed.',
  secret_unreadable:
    'The secret of the webhook destination cannot be opened with the SECRETS_KEY of this service.',
};

type Posted = PacketToSend<ParamsOf<'webhook.post'>>;

/**
 * `webhook.post`: one signed event for one destination. A receiver knows a repeated event by its id, yet nobody can tell
 * whether it looks at the id. So what it refused is sent again, with the same id and bytes, while what may have arrived
 * without an answer is not (docs/decisions/0017-outside-calls.md).
 */
@Injectable()
export class WebhookEffect implements OutsideEffect<ParamsOf<'webhook.post'>> {
  readonly kind = 'outside';
  readonly repeatable = false;

  constructor(
    private readonly clock: Clock,
    private readonly chains: ReceiptChains,
    private readonly posts: PostEvent,
  ) {}

  async seal(workspaceId: string): Promise<Envelope> {
    const receiptHead = await this.chains.head(workspaceId);
    return { timestamp: this.clock.now(), requestId: newId('req'), receiptHead };
  }

  async run(packet: Posted, signal: AbortSignal): Promise<ActionResult> {
    const { workspaceId, workPacketId, params, envelope } = packet;
    const eventId = eventIdOf(workPacketId);
    const { requestId } = envelope!;
    const answer = await this.posts.execute(
      { workspaceId, teamIds: 'all' },
      {
        destinationId: params.destinationId,
        destination: params.destination,
        eventId,
        event: POSTED_EVENT,
        requestId,
        body: bodyOf(packet, envelope!),
        signal,
      },
    );
    if (answer === 'other_address') throw new EffectFailed('CONTENT_CHANGED', UNSENDABLE[answer], false);
    if (typeof answer === 'string')
      throw new EffectFailed('WEBHOOK_NOT_AVAILABLE', UNSENDABLE[answer], false);
    assertAccepted(answer, {
      code: 'WEBHOOK',
      who: 'The webhook destination',
      isRepeatable: false,
      isHarmless: false,
      refusalMeansNothingDone: true,
    });
    const { status, excerpt } = answer;
    return { eventId, requestId, status, ...(excerpt !== '' && { answer: excerpt }) };
  }
}

/**
 * Nothing where the answer is a success. What may have taken effect is not asked for again unless that is safe: then it is
 * unconfirmed, and a person has to look.
 * @throws EffectFailed
 */
function assertAccepted(answer: OutsideAnswer, rules: Rules): asserts answer is Answered {
  if (answer.kind === 'failed') throw withoutAnswer(answer, rules);
  if (answer.status < 200 || answer.status >= 300) throw refusal(answer, rules);
}

function withoutAnswer(
  { error, mayHaveArrived }: Failed,
  { code, who, isRepeatable, isHarmless }: Rules,
): EffectFailed {
  if (error === 'destination') {
    return new EffectFailed(`${code}_ADDRESS`, `${who} is at an address that nothing may be sent to.`, false);
  }
  if (!mayHaveArrived || isHarmless) {
    const about = mayHaveArrived ? 'gave no answer' : 'was not reached';
    return new EffectFailed(`${code}_UNREACHABLE`, `${who} ${about} (${error}).`, true);
  }
  return unconfirmed(`${who} gave no answer (${error})`, code, isRepeatable);
}

/** One that may be repeated is: if no later try succeeds either, it ends as what it is. */
function unconfirmed(
  what: string,
  code: Rules['code'],
  isRepeatable: boolean,
  known: EffectFailed['known'] = {},
): EffectFailed {
  const rest = isRepeatable ? '' : ', so it is not tried again';
  const message = `${what}; it is not known whether it took effect${rest}.`;
  return new EffectFailed(`${code}_UNCONFIRMED`, message, isRepeatable, known);
}

function refusal({ status, retryAfterSeconds, excerpt }: Answered, rules: Rules): EffectFailed {
  const { code, who, isRepeatable, isHarmless, refusalMeansNothingDone } = rules;
  const says = `${who} answered ${status}`;
  const waitMs = Math.min(MAX_WAIT_MS, (retryAfterSeconds ?? 0) * 1_000);
  const known = { answered: { status, ...(excerpt !== '' && { answer: excerpt }) }, waitMs };
  const saysLater = TRY_LATER.includes(status) || (status === 503 && retryAfterSeconds !== undefined);
  if (saysLater || (status >= 500 && (isHarmless || refusalMeansNothingDone)))
    return new EffectFailed(`${code}_REFUSED`, `${says}.`, true, known);
  if (status >= 500) return unconfirmed(says, code, isRepeatable, known);
  const why = status >= 300 && status < 400 ? ', a redirect, which is never followed' : '';
  return new EffectFailed(`${code}_REFUSED`, `${says}${why}.`, false, known);
}

function required<T>(found: T | undefined, what: string): T {
  if (found) return found;
  const message = `The connectors file has no longer ${what} for this workspace.`;
  throw new EffectFailed('CALL_NOT_AVAILABLE', message, false);
}

/** The event of a packet; receivers deduplicate on it. */
function eventIdOf(workPacketId: string): string {
  return workPacketId.replace(/^pkt_/, 'evt_');
}

/** From what was allowed and what was sealed, so that each try sends the same bytes. */
function bodyOf(
  { workspaceId, workPacketId, directiveId, capo, params }: Posted,
  envelope: Envelope,
): string {
  const { timestamp, receiptHead } = envelope;
  const payload = { workPacketId, directiveId, capo, data: params.data, receiptHead };
  return JSON.stringify({ event: POSTED_EVENT, timestamp, workspaceId, payload });
}
