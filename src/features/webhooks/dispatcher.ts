import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PinoLogger } from 'nestjs-pino';
import { Config } from '../../platform/config/config.js';
import { Channel } from '../../platform/database/channel.js';
import { newId } from '../../platform/kernel/ids.js';
import { RequestContext } from '../../platform/kernel/request-context.js';
import { Deliveries, type TakenDelivery } from './deliveries.repository.js';
import { Lane } from './lane.js';
import { SendDelivery } from './send-delivery.js';

const SWEEP_EVERY_MS = 1_000;
/** Looks a little further than the next sweep, so that none falls between two. */
const AHEAD_MS = 1_500;
/** The alarm goes off this much late rather than early: a delivery that is not due yet is not taken. */
const AFTER_DUE_MS = 2;
/** How often a process that ends looks whether its lanes are empty. */
const DRAIN_LOOK_MS = 10;

/**
 * Sends what is due, in this process. It is rung when an event has committed, and looks for itself each second: for
 * what a dead process left behind, and for what falls due before the next look, to the millisecond.
 */
@Injectable()
export class Dispatcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #lanes = new Map<string, Lane>();
  readonly #alarms = new Map<string, NodeJS.Timeout>();
  #stopListening: (() => void) | undefined;

  constructor(
    private readonly config: Config,
    private readonly channel: Channel,
    private readonly deliveries: Deliveries,
    private readonly sendDelivery: SendDelivery,
    private readonly logger: PinoLogger,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.processRole === 'api') return;
    this.#stopListening = this.channel.subscribe('delivery', ({ workspaceId, id }) =>
      this.wake(workspaceId, id),
    );
  }

  /** Takes up nothing more and lets what is in flight, or just being taken up, end, which its caps bound. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#stopListening?.();
    this.#stopListening = undefined;
    for (const alarm of this.#alarms.values()) clearTimeout(alarm);
    while ([...this.#lanes.values()].some((lane) => !lane.isIdle)) await pause(DRAIN_LOOK_MS);
  }

  @Interval(SWEEP_EVERY_MS)
  async sweep(): Promise<void> {
    if (!this.#stopListening) return;
    for (const [destinationId, lane] of this.#lanes) if (lane.isIdle) this.#lanes.delete(destinationId);
    try {
      for (const { workspaceId, destinationId, dueInMs } of await this.deliveries.due(AHEAD_MS)) {
        if (dueInMs <= 0) this.wake(workspaceId, destinationId);
        else this.wakeLater(workspaceId, destinationId, dueInMs);
      }
    } catch (error) {
      this.logger.warn(
        { err: error },
        'the sweep for due deliveries failed; the next one follows in a second',
      );
    }
  }

  private wake(workspaceId: string, destinationId: string): void {
    if (!this.#stopListening) return;
    let lane = this.#lanes.get(destinationId);
    if (!lane) {
      lane = new Lane({
        take: (room) => this.take(workspaceId, destinationId, room),
        send: (delivery) => this.send(delivery),
      });
      this.#lanes.set(destinationId, lane);
    }
    lane.wake();
  }

  private wakeLater(workspaceId: string, destinationId: string, dueInMs: number): void {
    clearTimeout(this.#alarms.get(destinationId));
    const alarm = setTimeout(
      () => {
        this.#alarms.delete(destinationId);
        this.wake(workspaceId, destinationId);
      },
      Math.max(0, dueInMs) + AFTER_DUE_MS,
    );
    this.#alarms.set(destinationId, alarm);
  }

  private async take(workspaceId: string, destinationId: string, room: number): Promise<TakenDelivery[]> {
    if (!this.#stopListening) return [];
    try {
      const { taken, nextDueInMs } = await this.deliveries.take(workspaceId, destinationId, room);
      if (nextDueInMs !== null && nextDueInMs <= AHEAD_MS) {
        this.wakeLater(workspaceId, destinationId, nextDueInMs);
      }
      return taken;
    } catch (error) {
      this.logger.warn(
        { err: error, destinationId },
        'deliveries could not be taken up; the sweep looks again',
      );
      return [];
    }
  }

  private send(delivery: TakenDelivery): Promise<void> {
    return RequestContext.run(new RequestContext(newId('req')), () =>
      this.sendDelivery.execute(delivery),
    ).catch((error: unknown) => {
      const { deliveryId } = delivery;
      this.logger.warn(
        { err: error, deliveryId },
        'the result of a delivery could not be kept; it is sent again',
      );
    });
  }
}
