import type { Fault } from '../../platform/kernel/define-error.js';
import { hasUnseen } from '../../platform/kernel/unseen.js';

/** Whether a text of a value, or a name in it, holds what cannot be seen. */
export function hasUnseenText(value: unknown): boolean {
  return unseenFaults(value, '').length > 0;
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
