import { cutText } from '../../platform/kernel/text.js';
import type { Briefing, Concern, DraftContent, DraftPacket, NeededInput } from './briefing.js';
import { DRAFT_BOUNDS } from './draft-bounds.js';
import { OUTSIDE_TYPES } from './outside-targets.js';
import { placeholdersIn } from './placeholders.js';
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

interface KnownFacts {
  /** All that people wrote, for what they wrote in brackets themselves. */
  text: string;
  addresses: ReadonlySet<string>;
  links: ReadonlySet<string>;
  accounts: ReadonlySet<string>;
  wallets: ReadonlySet<string>;
  numbers: readonly Amount[];
}

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
  return {
    text: byPeople,
    addresses: new Set(addressesIn(addresses)),
    links: new Set(linksIn(addresses)),
    accounts: new Set(accountsIn(addresses)),
    wallets: new Set(walletsIn(addresses)),
    numbers: numbersIn(facts),
  };
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
  const recipients = new Set<string>();
  const addresses = new Set<string>();
  const links = new Set<string>();
  const accounts = new Set<string>();
  const wallets = new Set<string>();
  const amounts = new Set<string>();
  for (const { type, params } of packets) {
    const { to, cc } = params;
    const named = stringsIn([to, cc]).filter((address) => !known.addresses.has(addressKey(address)));
    for (const address of named) recipients.add(address);
    const text = stringsIn(type === 'email.send' ? { ...params, to: null, cc: null } : params).join('\n');
    for (const address of addressesIn(text)) if (!known.addresses.has(address)) addresses.add(address);
    for (const link of linksIn(text)) if (!known.links.has(link)) links.add(link);
    for (const account of accountsIn(text)) if (!known.accounts.has(account)) accounts.add(account);
    for (const wallet of walletsIn(text)) if (!known.wallets.has(wallet)) wallets.add(wallet);
    for (const amount of [...amountsIn(text), ...recorded(type, params)]) {
      if (!known.numbers.some((number) => isSameAmount(number, amount))) amounts.add(amount.written);
    }
  }
  return [
    ...concern(recipients, 'recipient'),
    ...concern(addresses, 'mail address'),
    ...concern(links, 'link'),
    ...concern(accounts, 'bank account'),
    ...concern(wallets, 'wallet address'),
    ...concern(amounts, 'amount'),
  ];
}

/** The sum that a record enters in the ledger, and each number that is posted or that a service is called with. */
function recorded(type: string, params: DraftPacket['params']): Amount[] {
  const { amount, currency } = params;
  if (OUTSIDE_TYPES.includes(type)) {
    return bareNumbersIn([params['data'], params['arguments']]).map((value) => ({
      written: String(value),
      values: [value],
      unit: null,
    }));
  }
  if (type !== 'revenue.record' || typeof amount !== 'number') return [];
  const unit = typeof currency === 'string' ? currency : null;
  return [{ written: `${amount} ${unit ?? ''}`.trim(), values: [amount], unit }];
}

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
