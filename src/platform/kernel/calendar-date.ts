import { ValidateBy } from 'class-validator';

/** A day of the calendar, YYYY-MM-DD: 2026-02-29 and 2026-13-01 are none, nor is any of the year 0, which the database has not. */
export function isCalendarDate(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const at = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(value) && !value.startsWith('0000');
}

/** Whether a zone has the day is checked elsewhere. */
export function IsCalendarDate(): PropertyDecorator {
  return ValidateBy({
    name: 'isCalendarDate',
    validator: {
      validate: isCalendarDate,
      defaultMessage: () => '$property must be a day of the calendar such as 2026-02-17',
    },
  });
}
