import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/kernel/clock.js';
import { newId } from '../../../platform/kernel/ids.js';
import { ReceiptChains } from '../../audit/index.js';
import type { ActionResult, ParamsOf } from '../../capos/index.js';
import { PostEvent, type Unsendable } from '../../webhooks/index.js';
import { assertAccepted } from './outside-answer.js';
import { EffectFailed, type Envelope, type OutsideEffect, type PacketToSend } from './packet-effect.js';

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
