import { Temporal } from 'temporal-polyfill';

/**
 * Dates in an instruction, as the person who wrote it meant them: in the workspace's zone, on the day of the briefing.
 * A mail may wait days for its approval, so a relative date must leave as a calendar date.
 */
export interface Calendar {
  today: Temporal.PlainDate;
  /** 12/01/2026 is the first of December for readers in the United States, else the twelfth of January. */
  monthFirst: boolean;
}

export interface FoundDate {
  /** As written, without a preposition in front of it. */
  text: string;
  index: number;
  date: Temporal.PlainDate;
  /** How it enters a sentence: `day` stands for itself, `period` needs an explanation, `literal` is left alone. */
  form: 'day' | 'part-of-day' | 'numeric' | 'period' | 'literal';
  /** The calendar date in words, e.g. "Friday, 4 December". */
  spoken: string;
}

export function calendarOf(now: number, timezone: string, locale: string): Calendar {
  const instant = Temporal.Instant.fromEpochMilliseconds(now);
  const monthFirst = /^en-us$|-us$/i.test(locale);
  try {
    return { today: instant.toZonedDateTimeISO(timezone).toPlainDate(), monthFirst };
  } catch {
    // An unknown zone must not cost the operator a draft; the settings refuse one long before this.
    return { today: instant.toZonedDateTimeISO('UTC').toPlainDate(), monthFirst };
  }
}

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);
const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

const MONTH =
  '(?:january|jan|february|feb|march|mar|april|apr|may|june|jun|july|jul|august|aug|september|sept|sep|october|oct|november|nov|december|dec)';
const WEEKDAY = `(?:${WEEKDAYS.join('|')})`;
const SHORT_WEEKDAY =
  '(?<=\\b(?:on|by|until|till|before|next|this|from|since) )(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)';
const DAY = '(?:0?[1-9]|[12]\\d|3[01])';

const PATTERNS = {
  iso: String.raw`(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?![\d-])`,
  numeric: String.raw`(?<first>\d{1,2})(?<mark>[./])(?<second>\d{1,2})\k<mark>(?<shortYear>\d{4}|\d{2})(?!\d)`,
  dayMonth: String.raw`(?<day>${DAY})(?:st|nd|rd|th)?(?: of)? (?<monthName>${MONTH})\b\.?(?:,? (?<year>20\d{2}))?(?!\d)`,
  monthDay: String.raw`(?<monthName>${MONTH})\.? (?<day>${DAY})(?:st|nd|rd|th)?\b(?:,? (?<year>20\d{2}))?(?!\d)`,
  endOf: String.raw`(?:the )?end of (?:the |this )?(?<next>next )?(?<unit>day|week|month|quarter|year|${MONTH})\b`,
  shortEnd: String.raw`(?<short>eod|cob|eow|eom|eoq|eoy)\b`,
  near: String.raw`(?<near>the day after tomorrow|tomorrow|today|tonight|yesterday)(?: (?<part>morning|afternoon|evening|night))?\b`,
  ahead: String.raw`(?:in|within) (?<count>\d{1,3}|a|an|${NUMBERS.join('|')}) (?<step>day|week|month|year)s?\b`,
  period: String.raw`(?<which>this|next) (?<span>week|month|quarter|year)\b`,
  weekday: String.raw`(?:(?<shift>this|next|last|coming) )?(?<weekday>${WEEKDAY}|${SHORT_WEEKDAY})\b(?: (?<part>morning|afternoon|evening|night)\b)?(?:,? (?:of )?(?<week>this|next) week\b)?`,
};

/** One expression per pattern: named groups may then repeat between them. */
const EXPRESSIONS = (Object.keys(PATTERNS) as (keyof typeof PATTERNS)[]).map((kind) => {
  const prefix = /^(?:iso|numeric|dayMonth|monthDay)$/.test(kind) ? `(?:${WEEKDAY},? (?:the )?)?` : '';
  return {
    kind,
    expression: new RegExp(`(?<![\\p{L}\\p{N}@/.-])(?<!\\b(?:every|each) )${prefix}${PATTERNS[kind]}`, 'giu'),
  };
});

export function findDates(text: string, calendar: Calendar): FoundDate[] {
  const found: FoundDate[] = [];
  for (const { kind, expression } of EXPRESSIONS) {
    for (const match of text.matchAll(expression)) {
      const date = dateOf(kind, match.groups ?? {}, calendar);
      if (date === undefined) continue;
      const form = formOf(kind, match.groups ?? {});
      found.push({ text: match[0], index: match.index, date, form, spoken: spoken(date, calendar) });
    }
  }
  found.sort((a, b) => a.index - b.index || b.text.length - a.text.length);
  // "Friday, 4 December" is one date, not a weekday and a date.
  let end = 0;
  return found.filter(({ index, text: written }) => {
    if (index < end) return false;
    end = index + written.length;
    return true;
  });
}

/** "Friday, 4 December", with the year only when it is not the current one. */
export function spoken(date: Temporal.PlainDate, calendar: Calendar): string {
  const year = date.year === calendar.today.year ? '' : ` ${date.year}`;
  const weekday = WEEKDAYS[date.dayOfWeek - 1] ?? '';
  return `${weekday.charAt(0).toUpperCase()}${weekday.slice(1)}, ${date.day} ${monthName(date)}${year}`;
}

export function monthName(date: Temporal.PlainDate): string {
  return MONTHS[date.month - 1] ?? '';
}

type Groups = Readonly<Record<string, string | undefined>>;

function formOf(kind: keyof typeof PATTERNS, groups: Groups): FoundDate['form'] {
  if (kind === 'iso' || kind === 'numeric') return 'numeric';
  if (kind === 'dayMonth' || kind === 'monthDay') return 'literal';
  if (groups.near?.toLowerCase() === 'tonight') return 'part-of-day';
  if (kind === 'near' || kind === 'weekday') return groups.part === undefined ? 'day' : 'part-of-day';
  return 'period';
}

function dateOf(
  kind: keyof typeof PATTERNS,
  groups: Groups,
  calendar: Calendar,
): Temporal.PlainDate | undefined {
  const { today } = calendar;
  switch (kind) {
    case 'iso':
      return valid(Number(groups.year), Number(groups.month), Number(groups.day));
    case 'numeric':
      return numeric(groups, calendar);
    case 'dayMonth':
    case 'monthDay':
      return named(groups, today);
    case 'endOf':
      return endOf(groups.unit ?? '', groups.next !== undefined, today);
    case 'shortEnd':
      return endOf(
        { w: 'week', m: 'month', q: 'quarter', y: 'year' }[groups.short?.at(-1) ?? ''] ?? 'day',
        false,
        today,
      );
    case 'near':
      return today.add({
        days: { yesterday: -1, today: 0, tonight: 0, tomorrow: 1 }[groups.near?.toLowerCase() ?? ''] ?? 2,
      });
    case 'ahead':
      return ahead(groups, today);
    case 'period':
      return startOf(groups.span ?? '', groups.which?.toLowerCase() === 'next', today);
    case 'weekday':
      return weekdayDate(groups, today);
  }
}

function valid(year: number, month: number, day: number): Temporal.PlainDate | undefined {
  try {
    return Temporal.PlainDate.from({ year, month, day }, { overflow: 'reject' });
  } catch {
    return undefined; // 2026-02-30 is a number with dashes, not a date
  }
}

function numeric(groups: Groups, { monthFirst }: Calendar): Temporal.PlainDate | undefined {
  const [first, second] = [Number(groups.first), Number(groups.second)];
  const year = Number(groups.shortYear) + (groups.shortYear?.length === 2 ? 2000 : 0);
  // Dots are European whatever the locale, and 25 can only be a day.
  const monthLeads = (monthFirst && groups.mark === '/' && first <= 12) || second > 12;
  return monthLeads ? valid(year, first, second) : valid(year, second, first);
}

/** Without a year the nearest such day is meant: lately passed ("the invoice of 20 November"), else the coming one. */
function named(groups: Groups, today: Temporal.PlainDate): Temporal.PlainDate | undefined {
  const month = monthNumber(groups.monthName ?? '');
  if (groups.year !== undefined) return valid(Number(groups.year), month, Number(groups.day));
  const years = [today.year, today.year + 1, today.year - 1];
  const candidates = years
    .map((year) => valid(year, month, Number(groups.day)))
    .filter((date) => date !== undefined);
  return candidates.find((date) => {
    const distance = today.until(date).days;
    return distance >= -120 && distance <= 245;
  });
}

function endOf(unit: string, next: boolean, today: Temporal.PlainDate): Temporal.PlainDate | undefined {
  const name = unit.toLowerCase();
  if (name === 'day') return today.add({ days: next ? 1 : 0 });
  if (name === 'week') {
    // A working week ends on Friday; on a weekend the coming one is meant.
    const friday = today.add({ days: (5 - today.dayOfWeek + 7) % 7 });
    return next ? friday.add({ weeks: 1 }) : friday;
  }
  if (name === 'month') return lastDay(today.add({ months: next ? 1 : 0 }));
  if (name === 'quarter') return lastDay(quarterStart(today).add({ months: next ? 5 : 2 }));
  if (name === 'year') return valid(today.year + (next ? 1 : 0), 12, 31);
  const month = monthNumber(name);
  const start = valid(today.year + (month < today.month ? 1 : 0), month, 1);
  return start && lastDay(start);
}

function startOf(span: string, next: boolean, today: Temporal.PlainDate): Temporal.PlainDate {
  const steps = next ? 1 : 0;
  switch (span.toLowerCase()) {
    case 'week':
      return today.subtract({ days: today.dayOfWeek - 1 }).add({ weeks: steps });
    case 'month':
      return today.with({ day: 1 }).add({ months: steps });
    case 'quarter':
      return quarterStart(today).add({ months: 3 * steps });
    default:
      return today.with({ month: 1, day: 1 }).add({ years: steps });
  }
}

function ahead(groups: Groups, today: Temporal.PlainDate): Temporal.PlainDate {
  const word = groups.count?.toLowerCase() ?? '';
  const count = /^\d/.test(word) ? Number(word) : Math.max(1, NUMBERS.indexOf(word));
  return today.add({ [`${groups.step?.toLowerCase() ?? 'day'}s`]: count });
}

/** Said on a Friday, "Friday" is the next one; "next Friday" is the Friday of next week. */
function weekdayDate(groups: Groups, today: Temporal.PlainDate): Temporal.PlainDate {
  const name = groups.weekday?.toLowerCase().slice(0, 3) ?? '';
  const target = WEEKDAYS.findIndex((day) => day.startsWith(name)) + 1;
  const shift = groups.shift?.toLowerCase();
  const week = groups.week?.toLowerCase() ?? (shift === 'next' ? 'next' : undefined);
  if (week !== undefined) {
    return startOf('week', week === 'next', today).add({ days: target - 1 });
  }
  const distance = (target - today.dayOfWeek + 7) % 7;
  if (shift === 'last') return today.subtract({ days: (7 - distance) % 7 || 7 });
  return today.add({ days: distance || 7 });
}

function monthNumber(name: string): number {
  const short = name.toLowerCase().slice(0, 3);
  return MONTHS.findIndex((month) => month.toLowerCase().startsWith(short)) + 1;
}

function quarterStart(date: Temporal.PlainDate): Temporal.PlainDate {
  return date.with({ day: 1, month: date.month - ((date.month - 1) % 3) });
}

function lastDay(date: Temporal.PlainDate): Temporal.PlainDate {
  return date.with({ day: date.daysInMonth });
}
