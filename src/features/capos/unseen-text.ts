import type { Fault } from '../../platform/kernel/define-error.js';
import { hasUnseen } from '../../platform/kernel/unseen.js';
import type { Briefing, Concern, DraftPacket } from './briefing.js';

/** Where a person has written what cannot be seen, whoever approves is told; of a runner it is not taken at all. */
const CONCERN: Concern = { risk: 'critical', reason: 'The text contains characters that cannot be seen.' };

/** What is to be feared of the texts that people wrote: the directive, its context, and what they asked to change. */
export function unseenInBriefing({
  directive,
  feedback,
}: Pick<Briefing, 'directive' | 'feedback'>): Concern[] {
  return concernIn([directive.text, directive.context, feedback.map(({ text }) => text)]);
}

/** What is to be feared of work packets, whoever wrote them. */
export function unseenInPackets(
  packets: readonly Pick<DraftPacket, 'title' | 'rationale' | 'params'>[],
): Concern[] {
  return concernIn(packets.map(({ title, rationale, params }) => [title, rationale, params]));
}

function concernIn(value: unknown): Concern[] {
  return unseenFaults(value, '').length > 0 ? [CONCERN] : [];
}

/** Each text of a value, and each name in it, that holds what cannot be seen. */
export function unseenFaults(value: unknown, path: string): Fault[] {
  if (typeof value === 'string') return hasUnseen(value) ? [unseenFault(path)] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    hasUnseen(name) ? [unseenFault(path)] : unseenFaults(each, `${path}.${name}`),
  );
}

function unseenFault(path: string): Fault {
  return { path, rule: 'visible', message: MUST_BE_SEEN };
}

export const MUST_BE_SEEN = 'must not contain characters that cannot be seen';
