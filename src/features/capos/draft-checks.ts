import { cutText } from '../../platform/kernel/text.js';
import { isActionType } from './action-types.js';
import type { Briefing, Concern, DraftContent, DraftPacket, NeededInput } from './briefing.js';
import { DRAFT_BOUNDS, placeholdersIn } from './draft-bounds.js';
import { OUTSIDE_TYPES, withoutOurs } from './outside-targets.js';
import {
  accountsIn,
  addressesIn,
  addressKey,
  type Amount,
  amountsIn,
  isSameAmount,
  linksIn,
  numbersIn,
  walletsIn,
} from './text-facts.js';

/**
 * What the draft of a model may have invented, as reasons for the approver, and what it left open, as input that is
 * needed. The draft itself stays as it is: nothing is corrected behind the reader's back.
 */
export function checkDraft(draft: DraftContent, briefing: Briefing): DraftContent {
  const known = knownFacts(briefing);
  const packets = draft.packets.map((packet) => ({
    ...packet,
    needsInput: [...packet.needsInput, ...openPlaces(packet, known.text)],
  }));
  return {
    ...draft,
    packets,
    concerns: [...draft.concerns, ...inventions(draft.packets, known)],
  };
}

/** The facts in a text, to compare others with. */
export interface Evidence {
  addresses: ReadonlySet<string>;
  links: ReadonlySet<string>;
  accounts: ReadonlySet<string>;
  wallets: ReadonlySet<string>;
  numbers: Numbers;
}

/** Numbers by what they may mean, and then by their unit: a text may hold thousands. */
type Numbers = ReadonlyMap<number, ReadonlyMap<string | null, Amount>>;

interface KnownFacts extends Evidence {
  /** All that people wrote, for what they wrote in brackets themselves. */
  text: string;
}

export type FactKind = 'recipient' | 'mail address' | 'link' | 'bank account' | 'wallet address' | 'amount';
const FACT_KINDS = [
  'recipient',
  'mail address',
  'link',
  'bank account',
  'wallet address',
  'amount',
] as const satisfies readonly FactKind[];

/** A fact in a work packet that must not be made up. */
export type PacketFact = {
  /** The parameter that holds it, such as `params.to`. */
  path: string;
  /** As it is written, or in the one notation of its kind. */
  text: string;
} & ({ kind: Exclude<FactKind, 'amount'> } | { kind: 'amount'; amount: Amount });

/**
 * Where a fact may come from. An address that stands only in a signal, or in a draft that nobody has approved, may be the
 * invention of that author: it is no evidence.
 */
function knownFacts({
  directive,
  feedback,
  standingOrders,
  buyerContext,
  metrics,
  ...rest
}: Briefing): KnownFacts {
  const byPeople = [
    directive.text,
    ...stringsIn(directive.context),
    ...feedback.flatMap(({ text, previous }) => [text, ...previous.packets.flatMap(editsOf)]),
    ...standingOrders.flatMap(({ name, text }) => [name, text]),
    rest.workspace.name,
    rest.operator.handle,
    ...stringsIn(rest.sender),
  ].join('\n');
  const addresses = `${byPeople}\n${stringsIn(buyerContext).join('\n')}`;
  const facts = [
    addresses,
    `${metrics.revenue24h} ${metrics.currency}`,
    ...Object.entries(metrics.revenue24hByCurrency).map(([currency, sum]) => `${sum} ${currency}`),
    ...rest.signals.flatMap(({ title, body }) => [title, body]),
    ...rest.recentPackets.map(({ title }) => title),
    String(rest.guardian.pending),
    ...factsIn(rest.figures),
  ].join('\n');
  return { ...evidenceIn(addresses), numbers: byValue(numbersIn(facts)), text: byPeople };
}

export function evidenceIn(text: string): Evidence {
  return {
    addresses: new Set(addressesIn(text)),
    links: new Set(linksIn(text)),
    accounts: new Set(accountsIn(text)),
    wallets: new Set(walletsIn(text)),
    numbers: byValue(numbersIn(text)),
  };
}

function byValue(numbers: readonly Amount[]): Numbers {
  const found = new Map<number, Map<string | null, Amount>>();
  for (const number of numbers) {
    for (const value of number.values) {
      const units = found.get(value) ?? new Map<string | null, Amount>();
      found.set(value, units.set(number.unit, number));
    }
  }
  return found;
}

export function holds(evidence: Evidence, fact: PacketFact): boolean {
  switch (fact.kind) {
    case 'recipient':
      return evidence.addresses.has(addressKey(fact.text));
    case 'mail address':
      return evidence.addresses.has(fact.text);
    case 'link':
      return evidence.links.has(fact.text);
    case 'bank account':
      return evidence.accounts.has(fact.text);
    case 'wallet address':
      return evidence.wallets.has(fact.text);
    case 'amount':
      return fact.amount.values.some((value) =>
        [...(evidence.numbers.get(value)?.values() ?? [])].some((number) =>
          isSameAmount(number, fact.amount),
        ),
      );
  }
}

/** Sums by day with their currency, and what was counted. */
function factsIn(figures: Briefing['figures']): string[] {
  if (!figures) return [];
  const { days, openApprovals } = figures;
  return [
    ...days.flatMap(({ day, revenue, approvals, signals }) => [
      day,
      ...Object.entries(revenue).map(([currency, sum]) => `${sum} ${currency}`),
      ...[...Object.values(approvals), ...Object.values(signals)].map(String),
    ]),
    ...openApprovals.map(({ title }) => title),
  ];
}

/** What people have written into an earlier draft. */
function editsOf({
  params,
  editedPaths = [],
}: Briefing['feedback'][number]['previous']['packets'][number]): string[] {
  return editedPaths.flatMap((path) => {
    if (path === 'params') return stringsIn(params);
    return stringsIn(params[path.replace(/^params\./, '').split('.')[0]!]);
  });
}

const NOWHERE = "in the directive, its context or the workspace's data";

function inventions(packets: readonly DraftPacket[], known: KnownFacts): Concern[] {
  const unknown = packets.flatMap(factsOf).filter((fact) => !holds(known, fact));
  return FACT_KINDS.flatMap((kind) =>
    concern(new Set(unknown.filter((fact) => fact.kind === kind).map(({ text }) => text)), kind),
  );
}

const RECIPIENTS = ['to', 'cc'];

/** Each recipient, address, link, account and amount that a work packet names, by the parameter that names it. */
export function factsOf({ type, params }: Pick<DraftPacket, 'type' | 'params'>): PacketFact[] {
  return Object.entries(withoutOurs(type, params)).flatMap(([name, value]): PacketFact[] => {
    const path = `params.${name}`;
    const isRecipient = RECIPIENTS.includes(name);
    const text = isRecipient && type === 'email.send' ? '' : stringsIn(value).join('\n');
    const as = (kind: Exclude<FactKind, 'amount'>, found: readonly string[]) =>
      found.map((one): PacketFact => ({ path, kind, text: one }));
    return [
      ...as('recipient', isRecipient ? stringsIn(value) : []),
      ...as('mail address', addressesIn(text)),
      ...as('link', linksIn(text)),
      ...as('bank account', accountsIn(text)),
      ...as('wallet address', walletsIn(text)),
      ...[...amountsIn(text), ...recorded(type, name, params)].map((amount): PacketFact => ({
        path,
        kind: 'amount',
        text: amount.written,
        amount,
      })),
    ];
  });
}

/** The sum that a record enters in the ledger, and each number that is posted or that a service is called with. */
function recorded(type: string, name: string, params: DraftPacket['params']): Amount[] {
  const value = params[name];
  // The tools of an agent from outside are not in the registry.
  if (!isActionType(type) || (OUTSIDE_TYPES.includes(type) && POSTED.includes(name))) {
    return bareNumbersIn(value).map((number) => ({ written: String(number), values: [number], unit: null }));
  }
  if (type !== 'revenue.record' || name !== 'amount' || typeof value !== 'number') return [];
  const unit = typeof params['currency'] === 'string' ? params['currency'] : null;
  return [{ written: `${value} ${unit ?? ''}`.trim(), values: [value], unit }];
}

const POSTED = ['data', 'arguments'];

/** Numbers that stand for more than yes, no and one. */
function bareNumbersIn(value: unknown): number[] {
  if (typeof value === 'number') return value === 0 || value === 1 ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(bareNumbersIn);
}

function concern(found: ReadonlySet<string>, noun: string): Concern[] {
  if (found.size === 0) return [];
  const names = [...found].slice(0, 10).map((name) => cutText(name, 80));
  const more = found.size > names.length ? ` and ${found.size - names.length} more` : '';
  const [plural, stand] =
    found.size === 1 ? ['', 'stands'] : [noun.endsWith('address') ? 'es' : 's', 'stand'];
  const ending = `${more} ${stand} nowhere ${NOWHERE}.`;
  const start = cutText(`The ${noun}${plural} ${names.join(', ')}`, DRAFT_BOUNDS.reason - ending.length);
  return [{ risk: 'critical', reason: start + ending }];
}

/** Each parameter that holds a placeholder. */
function openPlaces({ params, needsInput }: DraftPacket, written: string): NeededInput[] {
  return Object.entries(params).flatMap(([name, value]) => {
    const path = `params.${name}`;
    if (needsInput.some((one) => one.path === path)) return [];
    return openPlace(path, value, written) ?? [];
  });
}

/** What is needed where a value holds a placeholder, unless it stands in what people have written. */
export function openPlace(path: string, value: unknown, written: string): NeededInput | undefined {
  const open = stringsIn(value)
    .flatMap(placeholdersIn)
    .filter((placeholder) => !written.includes(placeholder));
  if (open.length === 0) return undefined;
  const names = open.slice(0, 5).map((one) => `“${cutText(one, 60)}”`);
  return { path, message: `Replace ${names.join(', ')} with what belongs there.` };
}

/** Every string and number in a value, with the names of its fields. */
export function stringsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null || depth > 20) return [];
  if (Array.isArray(value)) return value.flatMap((one) => stringsIn(one, depth + 1));
  return Object.entries(value).flatMap(([key, one]) => [key, ...stringsIn(one, depth + 1)]);
}
