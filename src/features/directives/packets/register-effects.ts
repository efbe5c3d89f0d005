import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../platform/kernel/clock.js';
import { capoActor } from '../../capos/capo-actor.js';
import { Documents } from '../../documents/documents.repository.js';
import { Mailer, MailFailed } from '../../mail/mailer.js';
import { RevenueEvents } from '../../revenue/revenue-events.repository.js';
import { Signals } from '../../signals/signals.repository.js';
import { ActionEffects, EffectFailed } from './action-effects.js';

/** What this program can do by itself: file, raise, record, and send mail. */
@Injectable()
export class RegisterEffects implements OnModuleInit {
  constructor(
    private readonly effects: ActionEffects,
    private readonly clock: Clock,
    private readonly documents: Documents,
    private readonly signals: Signals,
    private readonly revenue: RevenueEvents,
    private readonly mailer: Mailer,
  ) {}

  onModuleInit(): void {
    const { effects, clock, documents, signals, revenue, mailer } = this;
    effects.register('document.file', {
      kind: 'inside',
      run: async ({ params, teamId, directiveId, workPacketId, capo }) => ({
        documentId: documents.file({
          teamId,
          directiveId,
          workPacketId,
          title: params.title,
          body: params.body,
          createdAt: clock.now(),
          actor: capoActor(capo),
          capo,
        }),
      }),
    });
    effects.register('signal.raise', {
      kind: 'inside',
      run: async ({ params, teamId, capo, workPacketId }) => ({
        signalId: signals.raise({
          type: params.type,
          severity: params.severity,
          title: params.title,
          body: params.body,
          score: params.score ?? null,
          source: capoActor(capo),
          teamId,
          capo,
          entity: { type: 'work_packet', id: workPacketId },
        }),
      }),
    });
    effects.register('revenue.record', {
      kind: 'inside',
      run: async ({ params, workPacketId, capo }) => {
        const { event } = await revenue.record({
          amount: params.amount,
          currency: params.currency,
          source: params.source,
          description: params.description ?? null,
          externalId: null,
          workPacketId,
          recordedBy: capoActor(capo),
        });
        return { eventId: event.eventId };
      },
    });
    effects.register('email.send', {
      kind: 'outside',
      repeatable: mailer.repeatable,
      run: async ({ params, workPacketId }, signal) => {
        try {
          const sent = await mailer.send({ id: workPacketId, ...params }, signal);
          return { ...sent };
        } catch (error) {
          if (!(error instanceof MailFailed)) throw error;
          throw new EffectFailed(`MAIL_${error.code.toUpperCase()}`, error.message, error.retryable);
        }
      },
    });
  }
}
