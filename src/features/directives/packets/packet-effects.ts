import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/kernel/clock.js';
import type { Fault } from '../../../platform/kernel/define-error.js';
import { ValidationFailed } from '../../../platform/kernel/errors.js';
import type { Id } from '../../../platform/kernel/ids.js';
import { cutText } from '../../../platform/kernel/text.js';
import {
  type Action,
  type ActionResult,
  type ActionTypeName,
  type ParamsOf,
  capoActor,
  orderBodyOf,
} from '../../capos/index.js';
import { Documents, RevenueEvents, Signals } from '../../records/index.js';
import { MailFailed, Mailer, type RefusedRecipient, isForNow } from '../../mail/index.js';
import { ProposeStandingOrder } from '../../standing-orders/index.js';
import { Directives } from '../directives.repository.js';
import { HandInDirective } from '../hand-in-directive.js';
import { CallEffect, WebhookEffect } from './outside-effects.js';
import { type Effect, EffectFailed, type PacketToSend, type RecipientOutcome } from './packet-effect.js';

/** How much is told of what is wrong with a proposal. */
const MAX_MESSAGE = 1_000;

type Effects = {
  [T in ActionTypeName]: (
    workspaceId: string,
    params: ParamsOf<T>,
  ) => Effect<ParamsOf<T>> | Promise<Effect<ParamsOf<T>>>;
};

/** What this program can do: file, raise, record, hand on, propose orders, send mail, post an event, and call what the operator configured. */
@Injectable()
export class PacketEffects {
  readonly #effects: Effects;

  constructor(
    private readonly clock: Clock,
    private readonly documents: Documents,
    private readonly signals: Signals,
    private readonly revenue: RevenueEvents,
    private readonly mailer: Mailer,
    private readonly directives: Directives,
    private readonly handIn: HandInDirective,
    private readonly proposeOrder: ProposeStandingOrder,
    webhook: WebhookEffect,
    calls: CallEffect,
  ) {
    this.#effects = {
      'document.file': () => ({ kind: 'inside', run: (packet) => this.file(packet) }),
      'signal.raise': () => ({ kind: 'inside', run: (packet) => this.raise(packet) }),
      'revenue.record': () => ({ kind: 'inside', run: (packet) => this.record(packet) }),
      'directive.create': () => ({ kind: 'inside', run: (packet) => this.delegate(packet) }),
      'standing_order.propose': () => ({ kind: 'inside', run: (packet) => this.propose(packet) }),
      'email.send': () => ({
        kind: 'outside',
        repeatable: mailer.repeatable,
        run: (packet, signal) => this.send(packet, signal),
      }),
      'webhook.post': () => webhook,
      'http.call': (workspaceId, params) => calls.call(workspaceId, params),
    };
  }

  /** @throws EffectFailed when nothing here carries the action out */
  async of(workspaceId: string, { type, params }: Action): Promise<Effect> {
    // Each type is paired with its params above; TypeScript can't follow that pairing through a union of keys.
    const effects = this.#effects as unknown as Readonly<
      Record<string, ((workspaceId: string, params: unknown) => Effect | Promise<Effect>) | undefined>
    >;
    const effect = await effects[type]?.(workspaceId, params);
    if (effect) return effect;
    throw new EffectFailed('NOT_AVAILABLE', `Work packets of the type ${type} cannot be carried out.`, false);
  }

  private file({ params, ...packet }: PacketToSend<ParamsOf<'document.file'>>): ActionResult {
    const { teamId, directiveId, workPacketId, capo } = packet;
    const documentId = this.documents.file({
      teamId,
      directiveId,
      workPacketId,
      title: params.title,
      body: params.body,
      createdAt: this.clock.now(),
      actor: capoActor(capo),
      capo,
    });
    return { documentId };
  }

  private raise({
    params,
    teamId,
    capo,
    workPacketId,
  }: PacketToSend<ParamsOf<'signal.raise'>>): ActionResult {
    const signalId = this.signals.raise({
      type: params.type,
      severity: params.severity,
      title: params.title,
      body: params.body,
      score: params.score ?? null,
      source: capoActor(capo),
      teamId,
      capo,
      entity: { type: 'work_packet', id: workPacketId },
    });
    return { signalId };
  }

  private async record({
    params,
    teamId,
    workPacketId,
    capo,
  }: PacketToSend<ParamsOf<'revenue.record'>>): Promise<ActionResult> {
    const { event } = await this.revenue.record({
      teamId,
      amount: params.amount,
      currency: params.currency,
      source: params.source,
      description: params.description ?? null,
      externalId: null,
      workPacketId,
      recordedBy: capoActor(capo),
    });
    return { eventId: event.eventId };
  }

  /** The new directive stops at a person like any other; who asked for the first one asks for it too, until the same time. */
  private async delegate(packet: PacketToSend<ParamsOf<'directive.create'>>): Promise<ActionResult> {
    const { params, workspaceId, teamId, directiveId: delegatedFrom, capo } = packet;
    const { directive: text, capo: to, priority } = params;
    const context = { delegatedBy: capo, delegatedFrom };
    const { deadline, ...onBehalfOf } = await this.directives.requesterOf(workspaceId, delegatedFrom);
    const { directiveId } = this.handIn.accept(
      {
        text,
        capo: to,
        ...(priority && { priority }),
        ...(deadline !== null && { deadline: new Date(deadline).toISOString() }),
        context,
      },
      { workspaceId, teamId, actor: capoActor(capo), onBehalfOf },
    );
    return { directiveId };
  }

  /** A draft, which a person activates or does not. */
  private async propose(packet: PacketToSend<ParamsOf<'standing_order.propose'>>): Promise<ActionResult> {
    const { params, capo, workPacketId } = packet;
    const teamId = packet.teamId as Id<'team'> | null;
    try {
      const proposal = { by: capoActor(capo), teamId, workPacketId };
      return { standingOrderId: await this.proposeOrder.execute(orderBodyOf(params), proposal) };
    } catch (error) {
      if (!(error instanceof ValidationFailed)) throw error;
      const faults = (error.details as Fault[]).map(({ path, message }) => `${path}: ${message}`);
      const message = cutText(`The proposed order is not valid. ${faults.join('; ')}`, MAX_MESSAGE);
      throw new EffectFailed('INVALID_ORDER', message, false);
    }
  }

  private async send(
    { params, workPacketId, recipients }: PacketToSend<ParamsOf<'email.send'>>,
    signal: AbortSignal,
  ): Promise<ActionResult> {
    try {
      const sent = await this.mailer.send(
        { id: workPacketId, ...params, ...(recipients && { recipients }) },
        signal,
      );
      const at = this.clock.now();
      const accepted = sent.accepted.map((address) => ({
        address,
        outcome: 'accepted' as const,
        answer: sent.response,
        at,
      }));
      return { ...sent, recipients: [...accepted, ...this.refused(sent.rejected)] };
    } catch (error) {
      if (!(error instanceof MailFailed)) throw error;
      const { workError, message, retryable, reply, waitsForConnector } = error;
      const known = {
        ...(reply && { hasReplied: true }),
        ...(waitsForConnector && { waitsForConnector }),
      };
      throw new EffectFailed(workError.code, message, retryable, known, this.refused(reply?.rejected ?? []));
    }
  }

  private refused(rejected: readonly RefusedRecipient[]): RecipientOutcome[] {
    const at = this.clock.now();
    return rejected.map(({ address, response }) => ({
      address,
      outcome: isForNow(response) ? 'deferred' : 'refused',
      answer: response,
      at,
    }));
  }
}
