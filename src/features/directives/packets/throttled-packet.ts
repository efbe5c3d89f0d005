import type { Delay } from '../../../platform/work/work.js';
import { type Decision, THROTTLED } from '../../standing-orders/index.js';
import type { WorkPacketEntity } from './work-packet.entity.js';

/** What a packet keeps of the decision that delays it; nothing of any other. */
export function delayOf({
  throttledUntil,
  limits,
}: Decision): Pick<WorkPacketEntity, 'throttledUntil' | 'throttledBy'> {
  if (throttledUntil === null) return { throttledUntil: null, throttledBy: null };
  const delaying = limits.filter(({ until }) => until !== undefined);
  return { throttledUntil, throttledBy: [...new Set(delaying.map((limit) => limit.standingOrderId))] };
}

/** The work on a packet that is delayed: at that time, or when the deadline of its directive passes before, which ends it. */
export function delayOfWork({ throttledUntil }: Decision, deadline: number | null, now: number): Delay {
  const until = Math.min(throttledUntil!, deadline ?? Infinity);
  const message = `Standing orders delay it until ${new Date(throttledUntil!).toISOString()}.`;
  return { waitMs: Math.max(0, until - now), because: { code: THROTTLED, message } };
}
