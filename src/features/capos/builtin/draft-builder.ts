import * as de from 'chrono-node/de';
import * as en from 'chrono-node/en';
import * as es from 'chrono-node/es';
import * as fr from 'chrono-node/fr';
import { Temporal } from 'temporal-polyfill';
import { dayOf, knownZone } from '../../../platform/kernel/local-day.js';
import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import { ACTION_TYPES, type ActionTypeName } from '../action-types.js';
import type { Briefing, Concern, DraftContent, DraftPacket } from '../briefing.js';
import { type Capo, CAPOS } from '../capo.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import type { Ask } from './asks.js';
import { type Contacts, contactsOf } from './people.js';
import { TAKEN_BACK } from './words.js';
import { addressesIn, clean, oneLine, type Passage, type Text } from './text.js';

const LOCALES = [en.casual, de.casual, fr.casual, es.casual];
/** Texts of the context that are the message, and its subject. */
const GIVEN = { body: ['body', 'message', 'text', 'mail', 'notes'], subject: ['subject'] } as const;

type Prepared = Omit<DraftPacket, 'rationale' | 'multipliers' | 'needsInput'> &
  Partial<Pick<DraftPacket, 'needsInput'>> & { ask: Ask };

/** The draft while it is made. */
export class DraftBuilder {
  readonly briefing: Briefing;
  readonly whole: Text;
  readonly capo: Capo;
  readonly contacts: Contacts;
  readonly packets: DraftPacket[] = [];
  readonly remarks: string[] = [];
  readonly concerns: Concern[] = [];
  readonly #given = new Set<string>();

  constructor(briefing: Briefing, whole: Text) {
    this.briefing = briefing;
    this.whole = whole;
    this.capo = CAPOS[briefing.directive.capo];
    this.contacts = contactsOf(briefing);
  }

  get signature(): string | undefined {
    return this.briefing.sender.signature ?? undefined;
  }

  can(type: ActionTypeName): boolean {
    return ACTION_TYPES[type].engines.includes(this.capo.engine);
  }

  /** As it stands in the text. */
  words({ start, end }: Pick<Ask, 'start' | 'end'>): string {
    const text = this.whole.text.slice(start, end).trim();
    return text.replace(/(?:[\s,;]{1,5}(?:and|und|et|y|also|then|auch|dann|puis)){0,4}[\s,;]{0,5}$/iu, '');
  }

  /** The text or subject that the context supplies; it is used once. */
  take(what: keyof typeof GIVEN): string | undefined {
    const key = GIVEN[what].find((name) => typeof this.briefing.directive.context?.[name] === 'string');
    if (key === undefined || this.#given.has(what)) return undefined;
    this.#given.add(what);
    return clean(String(this.briefing.directive.context![key])).trim() || undefined;
  }

  add({ ask, title, target, ...packet }: Prepared): void {
    if (this.packets.length >= DRAFT_BOUNDS.packets) return;
    this.packets.push({
      needsInput: [],
      ...packet,
      title: cutText(oneLine(title), LIMITS.title),
      target: cutText(target, DRAFT_BOUNDS.target),
      rationale: `The directive says: “${cutText(oneLine(this.words(ask)), 300)}”`,
      multipliers: this.briefing.directive.priority === 'high' ? { priority: 1.5 } : {},
    });
  }

  unable(what: string, ask: Ask): void {
    const said = cutText(oneLine(this.words(ask)), 300);
    this.remarks.push(`The built-in runner can't ${what}; nothing was prepared for “${said}”.`);
  }

  /** Whether these receive what was drafted last: "And cc bob@...", "bob@... too." */
  doubt(addresses: readonly Passage[]): void {
    const packet = this.packets.at(-1);
    if (packet?.type !== 'email.send') return;
    for (const { text } of addresses)
      packet.needsInput = [
        ...packet.needsInput,
        { path: 'params.to', message: `Is ${text} to receive it, too?` },
      ];
  }

  concern(risk: Concern['risk'], reason: string): void {
    if (!this.concerns.some((known) => known.reason === reason)) this.concerns.push({ risk, reason });
  }

  /** The first date of a short text, as it is written. */
  dateIn(text: string): string | undefined {
    const now = Temporal.Instant.fromEpochMilliseconds(this.briefing.now).toZonedDateTimeISO(this.zone);
    const reference = { instant: new Date(this.briefing.now), timezone: now.offsetNanoseconds / 60e9 };
    return (
      LOCALES.flatMap((locale) => locale.parse(cutText(text, 500, ''), reference))
        .map(({ text: said }) => said)
        // A bare number or "may" is no date.
        .find(
          (said) =>
            /\p{L}{3}|\d[./-]\d/u.test(said) &&
            !/^ina$|^(?:right |just )?now$|tonight|jetzt|gerade|maintenant|ahora/iu.test(said),
        )
    );
  }

  get zone(): string {
    return knownZone(this.briefing.workspace.timezone);
  }

  /** The day that it is for the workspace. */
  get today(): Temporal.PlainDate {
    return Temporal.PlainDate.from(dayOf(this.briefing.now, this.zone));
  }

  /** Each address of the text is written to, asked about or mentioned. */
  finish(): DraftContent {
    const [back] = [...this.whole.masked.matchAll(TAKEN_BACK)];
    for (const packet of back ? this.packets.filter(({ type }) => type === 'email.send') : [])
      packet.needsInput = [
        ...packet.needsInput,
        { path: 'params.to', message: `Does this still hold? The directive says “${oneLine(back![0])}”.` },
      ];
    const written = JSON.stringify(
      this.packets.map(({ params, needsInput }) => {
        const { to, cc, directive, data, arguments: given } = params;
        return [to, cc, directive, data, given, needsInput];
      }),
    ).toLowerCase();
    const unused = new Set(
      addressesIn(this.whole.text)
        .map(({ text }) => text)
        .filter((address) => !written.includes(JSON.stringify(address.toLowerCase()).slice(1, -1))),
    );
    if (unused.size > 0) this.remarks.push(`Not written to: ${[...unused].join(', ')}.`);
    if (this.packets.length === 0)
      this.remarks.push(
        ...this.whole.pasted.map(
          ({ text }) => `Read as somebody else's message: “${cutText(oneLine(text), 300)}”`,
        ),
        'Nothing was prepared.',
      );
    const remarks = cutText([...new Set(this.remarks)].join('\n'), DRAFT_BOUNDS.remarks);
    return { remarks, packets: this.packets, concerns: this.concerns };
  }
}
