import * as chrono from 'chrono-node';
import { Temporal } from 'temporal-polyfill';
import type { Briefing } from '../src/features/capos/briefing.js';
import { withoutUnseen } from '../src/platform/kernel/unseen.js';
import { type DayOfYear, type Fact, type Facts, factsIn, readingsOf } from './facts.js';

const DAY_MS = 86_400_000;
/** Hours of `revenue24h`, and the newest of each list (briefing.reader.ts). */
const REACH: readonly number[] = [24, 20, 50];
/** As people write small numbers; a draft may write the digits. */
const WORDS: readonly string[][] = [
  ['one', 'uno', 'una', 'ein', 'eine', 'einen', 'einer', 'un', 'une'],
  ['two', 'both', 'dos', 'zwei', 'beide', 'deux'],
  ['three', 'tres', 'drei', 'trois'],
  ['four', 'cuatro', 'vier', 'quatre'],
  ['five', 'cinco', 'fünf', 'cinq'],
  ['six', 'seis', 'sechs'],
  ['seven', 'siete', 'sieben', 'sept'],
  ['eight', 'ocho', 'acht', 'huit'],
  ['nine', 'nueve', 'neun', 'neuf'],
  ['ten', 'diez', 'zehn', 'dix'],
  ['eleven', 'elf', 'onze'],
  ['twelve', 'dozen', 'doce', 'zwölf', 'dutzend', 'douze', 'douzaine'],
];

/** Where everything in a draft must come from: the instruction, its context, and what the workspace knows. */
export class Sources {
  /** What a person wrote and can be seen, each text whole: the only words that a draft may repeat to somebody outside. */
  readonly written: readonly string[];
  readonly #all: string;
  readonly #facts: Facts;
  readonly #numbers: Set<number>;
  readonly #dates: DayOfYear[];
  readonly #weekdays: Set<number>;
  readonly #times: Set<number>;
  readonly #longestList: number;
  readonly #ids: readonly string[];

  constructor(private readonly briefing: Briefing) {
    const { directive, feedback } = briefing;
    this.written = [
      directive.text,
      ...feedback.map(({ text }) => text),
      ...leavesOf(directive.context).map(String),
    ].map((text) => withoutUnseen(text.replaceAll('\r\n', '\n')));
    const known = { ...briefing, directive: { ...directive, directiveId: undefined } };
    const leaves = leavesOf(known).map(String);
    this.#ids = idsOf(known);
    this.#all = leaves.join('\n');
    this.#facts = factsIn(this.#all);

    const moments = [briefing.now, briefing.now - DAY_MS, ...timestampsOf(known)].map((ms) =>
      Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(briefing.workspace.timezone),
    );
    const meant = this.written.flatMap((text) => datesMeant(text, moments[0]!));
    this.#dates = [...this.#facts.dates.map(({ value }) => value), ...moments, ...meant].map(
      ({ day, month, year }) => ({ day, month, year }),
    );
    this.#weekdays = new Set([
      ...this.#facts.weekdays.map(({ value }) => value),
      ...this.#dates.map((date) => weekdayOf(date, briefing.now)),
    ]);
    this.#times = new Set([
      ...this.#facts.times.flatMap(({ value }) => value),
      ...moments
        .flatMap((moment) => [moment, moment.withTimeZone('UTC')])
        .map(({ hour, minute }) => hour * 60 + minute),
    ]);
    const numbers = this.#facts.numbers.flatMap(({ text, value }) => [
      ...value,
      ...partsOf(text).flatMap(readingsOf),
    ]);
    this.#numbers = new Set([
      ...numbers,
      ...numbers.filter((value) => value > 0 && value < 1).map((share) => Math.round(share * 100)),
      ...WORDS.flatMap((words, at) => (this.#says(words) ? [at + 1] : [])),
      ...this.#dates.map(({ year }) => year ?? moments[0]!.year),
      ...this.#facts.dates.map(({ value }) => value.day),
      ...this.#facts.times.flatMap(({ value }) => value.map((time) => Math.floor(time / 60))),
    ]);
    this.#longestList = Math.max(
      0,
      ...[
        briefing.signals,
        briefing.standingOrders,
        briefing.recentPackets,
        briefing.buyerContext.profiles,
      ].map(({ length }) => length),
    );
  }

  /** What in this text stands nowhere, each as a person would name it. */
  inventedIn(text: string, { isDocument = false } = {}): string[] {
    const shown = isDocument ? withoutMarkdown(text) : text;
    const found = factsIn(this.#ids.reduce((rest, id) => rest.replaceAll(id, ' '), shown));
    return [
      ...said('the address', found.addresses, (address) =>
        this.#facts.addresses.some(({ value }) => value === address),
      ),
      ...said('the link', found.links, (link) => this.#hasLink(link)),
      ...said('the date', found.dates, (date) => this.#hasDate(date) || (isDocument && this.#isPeriod(date))),
      ...said('the weekday', found.weekdays, (weekday) => this.#weekdays.has(weekday)),
      ...said('the time', found.times, (readings) => readings.some((time) => this.#hasTime(time))),
      ...said('the amount', found.amounts, ({ readings, currency }) => this.#hasCurrency(readings, currency)),
      ...found.numbers
        .filter(({ text: number }) => !this.#hasNumber(number, isDocument))
        .map(({ text: number }) => `the number ${number}`),
    ];
  }

  /**
   * Whether these are words that a person wrote, in their order, line breaks and all, from a word's start to a word's end;
   * `cut`: it may end within a word; `oneLine`: a line break may have become a space.
   */
  holdWordForWord(text: string, { cut = false, oneLine = false } = {}): boolean {
    const shaped = (each: string) =>
      (oneLine ? each.replace(/\s+/g, ' ') : each.replaceAll('\r\n', '\n')).trim();
    const wanted = shaped(text);
    return this.written.map(shaped).some((source) => {
      for (let at = source.indexOf(wanted); at >= 0; at = source.indexOf(wanted, at + 1)) {
        const before = source.slice(0, at).at(-1);
        const after = source.at(at + wanted.length);
        if (!joined(before, wanted.at(0)) && (cut || !joined(wanted.at(-1), after))) return true;
      }
      return false;
    });
  }

  #says(words: readonly string[]): boolean {
    return new RegExp(String.raw`(?<!\p{L})(?:${words.join('|')})(?!\p{L})`, 'iu').test(this.#all);
  }

  /** A subject may end within a link. */
  #hasLink(link: string): boolean {
    const begun = link.endsWith('…') ? link.slice(0, -1) : undefined;
    return (
      this.#facts.links.some(
        ({ value }) => value === link || (begun !== undefined && value.startsWith(begun)),
      ) || this.#facts.addresses.some(({ value }) => value.endsWith(`@${link}`))
    );
  }

  #hasDate(date: DayOfYear): boolean {
    return this.#dates.some(
      ({ day, month, year }) =>
        day === date.day &&
        month === date.month &&
        (year === undefined || date.year === undefined || year === date.year),
    );
  }

  /** The bounds of today, this week, this month and the ones before, which a report may name. */
  #isPeriod({ day, month, year }: DayOfYear): boolean {
    const today = Temporal.Instant.fromEpochMilliseconds(this.briefing.now)
      .toZonedDateTimeISO(this.briefing.workspace.timezone)
      .toPlainDate();
    const monday = today.subtract({ days: today.dayOfWeek - 1 });
    const first = today.with({ day: 1 });
    return [
      ...[1, 2, 7, 14, 28, 30].map((days) => today.subtract({ days })),
      ...[monday, monday.subtract({ days: 7 }), monday.subtract({ days: 1 }), monday.add({ days: 6 })],
      ...[first, first.subtract({ months: 1 }), first.subtract({ days: 1 })],
    ].some((date) => date.day === day && date.month === month && (year === undefined || date.year === year));
  }

  /** "since 7" is 7:00. */
  #hasTime(time: number): boolean {
    return (
      this.#times.has(time) ||
      (time % 60 === 0 && [time / 60, time / 60 - 12].some((hour) => this.#numbers.has(hour)))
    );
  }

  #hasCurrency(readings: readonly number[], currency: string): boolean {
    const same = this.#facts.amounts.filter(({ value }) =>
      value.readings.some((each) => readings.includes(each)),
    );
    if (same.length > 0) return same.some(({ value }) => value.currency === currency);
    // A bare number is in a currency that is spoken of, else in the workspace's own.
    return (
      this.briefing.metrics.currency === currency ||
      currency in this.briefing.metrics.revenue24hByCurrency ||
      this.#facts.amounts.some(({ value }) => value.currency === currency) ||
      this.#says([currency])
    );
  }

  #hasNumber(written: string, isDocument: boolean): boolean {
    const stands = (part: string) =>
      readingsOf(part).some(
        (value) =>
          this.#numbers.has(value) ||
          // A report may count what it lists, and name the reach of what it is made of.
          (isDocument && ((Number.isInteger(value) && value <= this.#longestList) || REACH.includes(value))),
      );
    return stands(written) || partsOf(written).every(stands);
  }
}

function said<T>(what: string, facts: readonly Fact<T>[], stands: (value: T) => boolean): string[] {
  return facts.filter(({ value }) => !stands(value)).map(({ text }) => `${what} ${text.trim()}`);
}

/** The numbers of a list are no facts, and a backslash before a sign is not shown. */
function withoutMarkdown(text: string): string {
  return text.replace(/^\s*\d{1,2}[.)]\s/gm, '- ').replace(/\\([!-/:-@[-`{-~])/g, '$1');
}

/** "order 17 400" holds one number or two. */
const partsOf = (number: string) => number.split(/[\s\u00a0\u202f]/);

function joined(before: string | undefined, after: string | undefined): boolean {
  const isPartOfWord = (character: string | undefined) =>
    character !== undefined && /[\p{L}\p{N}]/u.test(character);
  return isPartOfWord(before) && isPartOfWord(after);
}

const TIMESTAMPS = new Set(['createdAt', 'updatedAt', 'now']);
const isId = (key: string) => key.endsWith('Id');

/** The texts and numbers in it, without ids and timestamps. */
function leavesOf(value: unknown): (string | number)[] {
  if (typeof value === 'string' || typeof value === 'number') return [value];
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]: [string, unknown]) =>
    TIMESTAMPS.has(key) || isId(key) ? [] : [...(/^[A-Z]{3}$/.test(key) ? [key] : []), ...leavesOf(each)],
  );
}

function idsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]: [string, unknown]) =>
    isId(key) && typeof each === 'string' ? [each] : idsOf(each),
  );
}

function timestampsOf(value: unknown): number[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]: [string, unknown]) =>
    TIMESTAMPS.has(key) && typeof each === 'number' ? [each] : timestampsOf(each),
  );
}

/** "tomorrow", "next Friday", "nächste Woche", "demain" and "in March" as dates; of a month, the first and the last. */
function datesMeant(text: string, now: Temporal.ZonedDateTime): DayOfYear[] {
  // chrono counts in the zone of this process: the day itself is what is compared.
  const reference = new Date(now.year, now.month - 1, now.day, now.hour, now.minute);
  return [chrono.en, chrono.de, chrono.fr, chrono.es].flatMap((language) =>
    language.parse(text, reference, { forwardDate: true }).flatMap(({ start, end }) =>
      [start, end].flatMap((each) => {
        const [day, month, year] = [each?.get('day'), each?.get('month'), each?.get('year')];
        if (typeof day !== 'number' || typeof month !== 'number' || typeof year !== 'number') return [];
        const isMonth =
          each?.isCertain('month') === true && !each.isCertain('day') && !each.isCertain('weekday');
        return [{ day, month, year }, ...(isMonth ? boundsOfLast(month, now) : [])];
      }),
    ),
  );
}

/** A report on March is on the last one. */
function boundsOfLast(month: number, now: Temporal.ZonedDateTime): DayOfYear[] {
  const first = Temporal.PlainDate.from({
    year: month <= now.month ? now.year : now.year - 1,
    month,
    day: 1,
  });
  return [first, first.with({ day: first.daysInMonth })].map(({ day, year }) => ({ day, month, year }));
}

/** Sunday is 0. A date without a year is the closest one. */
function weekdayOf({ day, month, year }: DayOfYear, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const years = year === undefined ? [thisYear - 1, thisYear, thisYear + 1] : [year];
  const [closest] = years
    .map((each) => Date.UTC(each, month - 1, day))
    .toSorted((a, b) => Math.abs(a - now) - Math.abs(b - now));
  return new Date(closest!).getUTCDay();
}
