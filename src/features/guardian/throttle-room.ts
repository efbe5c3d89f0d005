import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import {
  type Decision,
  type LimitResult,
  type OrderUsage,
  type RecordedInput,
  SLIDING_HOURS,
  StandingOrderUses,
  evaluateAgain,
} from '../standing-orders/index.js';
import type { Decided, TakenByDraft } from './policy-decision.js';

const HOUR_MS = 3_600_000;

/** How many work packets wait for room under each of these orders before the one that is decided. */
export type WaitingAhead = (standingOrderIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;

/** Where nobody says who waits, nobody does. */
export const NOBODY_WAITS: WaitingAhead = () => Promise.resolve(new Map());

/** A limit of the last hour, or of the last day, beyond which a work packet has to wait. */
interface Wait {
  limit: LimitResult;
  hours: number;
  /** Which of the order's uses has to leave, counted from its newest; negative for one of the same draft. */
  newer: number;
  /** How often the window has to pass until then. */
  rounds: number;
}

/**
 * When there is room for a work packet that an hour's or a day's limit delays. Each that waits takes the time at which
 * another use leaves the window, in the order in which they began to wait: were all of them decided again whenever there is
 * room for one, a thousand that wait would cost a million decisions.
 */
@Injectable()
export class ThrottleRoom {
  constructor(private readonly uses: StandingOrderUses) {}

  /**
   * A decision that lets the work packet wait says until when; that takes a look at the uses, and is decided with them. Any other
   * stays as it is.
   * @param scope of the whole workspace, since its orders hold for every team
   */
  async decideWhen(
    scope: Scope,
    decided: Decided,
    waitingAhead: WaitingAhead,
    before: ReadonlyMap<string, TakenByDraft> = new Map(),
  ): Promise<Decided> {
    const { decision, input, orders } = decided;
    if (decision.outcome !== 'throttle') return decided;
    const usage = await this.usageWithRoom(scope, decision, input, { waitingAhead, before });
    const withRoom = { ...input, usage };
    return { ...decided, input: withRoom, decision: evaluateAgain(withRoom, orders) };
  }

  /** The usage of the decision, with the times at which there is room. */
  private async usageWithRoom(
    scope: Scope,
    { limits }: Pick<Decision, 'limits'>,
    { at, packet, usage }: RecordedInput,
    { waitingAhead, before }: { waitingAhead: WaitingAhead; before: ReadonlyMap<string, TakenByDraft> },
  ): Promise<RecordedInput['usage']> {
    const delaying = limits.filter(({ limit, until }) => until !== undefined && SLIDING_HOURS[limit]);
    if (delaying.length === 0) return usage;
    const ahead = await waitingAhead([...new Set(delaying.map(({ standingOrderId }) => standingOrderId))]);
    const waits = delaying.map((limit) =>
      waitFor(limit, ahead.get(limit.standingOrderId) ?? 0, before.get(limit.standingOrderId)),
    );
    const times = await this.uses.timesOfUses(
      scope,
      waits.map(({ limit, hours, newer }) => ({
        standingOrderId: limit.standingOrderId,
        hours,
        newer: Math.max(0, newer),
      })),
      packet.workPacketId,
      at,
    );
    const withRoom: Record<string, OrderUsage> = { ...usage };
    for (const [index, { limit, hours, newer, rounds }] of waits.entries()) {
      const { standingOrderId } = limit;
      const usedAt = newer < 0 ? at : (times[index] ?? at);
      const roomAt = usedAt + hours * rounds * HOUR_MS;
      const room = limit.limit === 'maxPerHour' ? { hourRoomAt: roomAt } : { dayRoomAt: roomAt };
      withRoom[standingOrderId] = { ...withRoom[standingOrderId]!, ...room };
    }
    return withRoom;
  }
}

/** The first that waits goes when the oldest of the newest `allowed` uses leaves, the next with the one after it. */
function waitFor(limit: LimitResult, ahead: number, before: TakenByDraft = { gone: 0, waiting: 0 }): Wait {
  const waiting = ahead + before.waiting;
  return {
    limit,
    hours: SLIDING_HOURS[limit.limit]!,
    newer: limit.allowed - 1 - (waiting % limit.allowed) - before.gone,
    rounds: 1 + Math.floor(waiting / limit.allowed),
  };
}
