import { Injectable } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Signals } from '../signals/signals.repository.js';
import { Deliveries, type TakenDelivery } from './deliveries.repository.js';
import { type Attempt, GIVEN_UP_BEFORE_PAUSE, type Verdict } from './delivery.js';
import { placeOf } from './place-of.js';
import { type Standing, Standings } from './standing.repository.js';

/**
 * Writes down what came of an attempt. What changes nothing about the destination is one statement; the rest is an act
 * with a receipt. A result that comes too late, when the delivery is another process's by now, is discarded.
 */
@Injectable()
export class ConcludeAttempt {
  constructor(
    private readonly db: Db,
    private readonly deliveries: Deliveries,
    private readonly standings: Standings,
    private readonly signals: Signals,
    private readonly receipts: Receipts,
  ) {}

  async execute(delivery: TakenDelivery, attempt: Attempt, verdict: Verdict): Promise<void> {
    if (verdict.kind === 'again') await this.deliveries.putOff(delivery, attempt, verdict.waitMs);
    else if (verdict.kind === 'delivered' && !delivery.probe)
      await this.deliveries.arrived(delivery, attempt);
    else await this.change(delivery, attempt, verdict.kind);
  }

  private async change(
    delivery: TakenDelivery,
    attempt: Attempt,
    kind: 'delivered' | 'given_up' | 'gone',
  ): Promise<void> {
    const { workspaceId, destinationId } = delivery;
    await this.db.transaction({ workspaceId, teamIds: 'all' }, async () => {
      // Before the delivery, as whoever deletes the destination does: two who lock in turn cannot wait for each other.
      const standing = await this.standings.lock(workspaceId, destinationId);
      const ended = await this.deliveries.end(delivery, attempt, kind === 'delivered' ? 'delivered' : 'dead');
      if (!standing || !ended) return;
      if (kind === 'delivered') this.arrivedAsProbe(delivery, standing);
      else if (kind === 'gone') this.gone(delivery, standing);
      else this.givenUp(delivery, standing);
    });
  }

  private arrivedAsProbe({ workspaceId, destinationId }: TakenDelivery, { status, url }: Standing): void {
    this.standings.recover(workspaceId, destinationId);
    if (status !== 'paused') return;
    this.note('webhook.recovered', destinationId, `${placeOf(url)} receives again.`);
  }

  private gone({ workspaceId, destinationId }: TakenDelivery, { status, url }: Standing): void {
    this.deliveries.giveUpRest(workspaceId, destinationId);
    if (status === 'gone') return;
    this.standings.markGone(workspaceId, destinationId);
    const title = `${placeOf(url)} answered 410: it receives no more events.`;
    this.note('webhook.gone', destinationId, title);
    this.warn(destinationId, title, 'Register another destination if its events are still wanted.');
  }

  private givenUp({ workspaceId, destinationId }: TakenDelivery, standing: Standing): void {
    const { status, consecutiveFailures, url } = standing;
    if (status !== 'active' || consecutiveFailures + 1 < GIVEN_UP_BEFORE_PAUSE) {
      this.standings.countFailure(workspaceId, destinationId);
      return;
    }
    this.standings.pause(workspaceId, destinationId);
    const title = `${placeOf(url)} is paused: ${GIVEN_UP_BEFORE_PAUSE} deliveries in a row were given up.`;
    this.note('webhook.paused', destinationId, title);
    this.warn(
      destinationId,
      title,
      'Its events are kept. One is tried each hour; resume it once it is repaired.',
    );
  }

  private note(action: string, destinationId: string, summary: string): void {
    this.receipts.append({
      actor: SYSTEM,
      action,
      entity: { type: 'webhook_destination', id: destinationId },
      summary,
    });
  }

  private warn(destinationId: string, title: string, body: string): void {
    this.signals.raise({
      type: 'connector',
      severity: 'warning',
      title,
      body,
      score: null,
      source: SYSTEM,
      teamId: null,
      capo: null,
      entity: { type: 'webhook_destination', id: destinationId },
    });
  }
}
