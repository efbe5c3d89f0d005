import { registerDecorator } from 'class-validator';
import { Temporal } from 'temporal-polyfill';

const MAX_AHEAD_MS = 10 * 366 * 86_400_000;

/** The instant that an ISO 8601 text with an offset names, in Unix milliseconds; undefined if it names none. */
export function instantOf(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    // Temporal refuses what Date would bend: 29 February of other years, 24:00, a missing offset.
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    return undefined;
  }
}

/** An instant in the future, at most ten years ahead. */
export function IsInstantAhead(): PropertyDecorator {
  return (target, property) =>
    registerDecorator({
      name: 'isInstantAhead',
      target: target.constructor,
      propertyName: String(property),
      options: { message: `${String(property)} must be an ISO 8601 time with an offset, in the future` },
      validator: {
        validate: (value: unknown) => {
          const at = instantOf(value);
          return at !== undefined && at > Date.now() && at < Date.now() + MAX_AHEAD_MS;
        },
      },
    });
}
