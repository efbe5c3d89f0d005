import type { ScheduleRuleBody, ScheduleRuleView } from '@consigliere/sdk';

export const DAYS = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
} as const;

/** When a schedule is due, in words. */
export function inWords({ every, on, at, timezone }: ScheduleRuleView): string {
  const day =
    every === 'day'
      ? 'Each day'
      : every === 'week'
        ? `Each ${DAYS[on as keyof typeof DAYS]}`
        : `On day ${on} of each month`;
  return `${day} at ${at}, ${timezone}`;
}

/** What the fields of the form say: `each` is day, a day of the week, or month. */
export function ruleOf({ each, on, at, timezone }: Record<string, string>): ScheduleRuleBody {
  const when = { at: at!, timezone: timezone! };
  if (each === 'day') return { every: 'day', ...when };
  if (each === 'month') return { every: 'month', on: Number(on), ...when };
  return { every: 'week', on: each as keyof typeof DAYS, ...when };
}

/** The choice of the form that says this rule. */
export function eachOf({ every, on }: ScheduleRuleView): string {
  return every === 'week' ? String(on) : every;
}
