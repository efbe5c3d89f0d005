import { ValidateBy } from 'class-validator';

/**
 * A zone of the IANA database by its name. `Intl` alone takes offsets (`+05:30`) and abbreviations (`EST`, which is
 * Panama to it) as well, and its list of zones has neither UTC nor the other names of a zone (Asia/Kolkata).
 */
function isIanaZone(value: unknown): boolean {
  if (typeof value !== 'string' || !(value === 'UTC' || /^[A-Za-z_]+\/[A-Za-z0-9_+/-]+$/.test(value))) {
    return false;
  }
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: value }));
  } catch {
    return false;
  }
}

export function IsIanaZone(): PropertyDecorator {
  return ValidateBy({
    name: 'isIanaZone',
    validator: {
      validate: isIanaZone,
      defaultMessage: () => '$property must be UTC or an IANA zone such as Europe/Berlin',
    },
  });
}
