import { ValidateBy } from 'class-validator';
import { isKnownZone } from './local-day.js';

/** A time as a clock shows it, HH:MM. */
export const CLOCK_TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

/**
 * A zone of the IANA database by its name. `Intl` alone takes offsets (`+05:30`) and abbreviations (`EST`, which is
 * Panama to it) as well, and its list of zones has neither UTC nor the other names of a zone (Asia/Kolkata).
 */
function isIanaZone(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  return (value === 'UTC' || /^[A-Za-z_]+\/[A-Za-z0-9_+/-]+$/.test(value)) && isKnownZone(value);
}

/**
 * As this program knows zones. The database has a list of its own, without some names that `Intl` keeps, and may be
 * asked only by the use case that stores the zone (Workspaces.knowsZone).
 */
export function IsIanaZone(): PropertyDecorator {
  return ValidateBy({
    name: 'isIanaZone',
    validator: {
      validate: isIanaZone,
      defaultMessage: () => '$property must be UTC or an IANA zone such as Europe/Berlin',
    },
  });
}
