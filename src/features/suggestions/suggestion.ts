import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import type { Id } from '../../platform/kernel/ids.js';
import { CONTROL, cutText } from '../../platform/kernel/text.js';
import { markUnseen } from '../../platform/kernel/unseen.js';
import { ACTION_TYPES, CAPOS, destinationIn, isActionType } from '../capos/index.js';
import { type FieldCondition, type StandingOrderRule, domainsIn } from '../standing-orders/index.js';
import type { DecidedAction, DecidedApproval } from './decided-approvals.reader.js';
import type { CapoRole } from '../terms/index.js';

/** What approvals have in common that an order could allow. */
interface Shape {
  teamId: Id<'team'> | null;
  /** Null where an agent from outside asked. */
  capo: CapoRole | null;
  agent?: string;
  actionType: string;
  /** Those of its recipients, in one order; null where it reaches nobody outside. */
  domains: readonly string[] | null;
  /** Whom it reaches, where that names no domain. */
  target: string | null;
  /** Of a tool, the parameter that says so. */
  parameter?: string;
  /** Of a post, which an order allows by the id: what the destination is called says less. */
  destinationId?: string;
  /** The power of ten that its amount is within; null: no money moves. */
  amountWithin: number | null;
  currency: string | null;
}

/** An order that people would not have to decide about each time any more. */
export interface Suggestion {
  suggestionId: Id<'sug'>;
  name: string;
  text: string;
  rule: StandingOrderRule;
  /** How many approvals it is made from. */
  approvals: number;
  lastApprovedAt: number;
}

const SUGGESTED_AFTER = 5;
export const WITHIN_DAYS = 30;
const DAY_MS = 86_400_000;
/** Mail to people of many companies has no shape. */
const MAX_DOMAINS = 5;
const MAX_NAME = 120;
/** As much as a condition may compare with (standing-orders/standing-order-validation.ts). */
const MAX_TEXT = 500;

/**
 * What was approved five times, always as the capo had drafted it or the agent had asked for it, apart from the directives that ask anyway. An edit or a rejection of one of this shape begins the count anew,
 * so `approvals` come newest first.
 */
export function suggestionsFrom(
  approvals: readonly DecidedApproval[],
  askingAnyway: ReadonlySet<string | null> = new Set(),
): Suggestion[] {
  const tallies = new Map<string, Tally>();
  for (const approval of approvals) {
    for (const [id, { shape, packets }] of shapesOf(approval)) {
      const tally = tallies.get(id) ?? new Tally(shape);
      tallies.set(id, tally);
      tally.add(approval, packets, askingAnyway.has(approval.directiveId));
    }
  }
  return [...tallies]
    .flatMap(([id, tally]) =>
      tally.approvals < SUGGESTED_AFTER ? [] : [suggestionOf(id as Id<'sug'>, tally)],
    )
    .toSorted((a, b) => b.approvals - a.approvals || b.lastApprovedAt - a.lastApprovedAt);
}

/** The approvals of one shape since it was last edited or rejected. */
class Tally {
  approvals = 0;
  lastApprovedAt = 0;
  mostRecipients = 0;
  readonly #perDay = new Map<number, number>();
  #hasEnded = false;

  constructor(readonly shape: Shape) {}

  get mostOfADay(): number {
    return Math.max(...this.#perDay.values());
  }

  add(
    { status, isEdited, decidedAt }: DecidedApproval,
    packets: readonly DecidedAction[],
    asksAnyway: boolean,
  ): void {
    this.#hasEnded ||= status !== 'approved' || isEdited;
    if (this.#hasEnded || asksAnyway) return;
    this.approvals++;
    this.lastApprovedAt = Math.max(this.lastApprovedAt, decidedAt);
    this.mostRecipients = Math.max(this.mostRecipients, ...packets.map(({ recipients }) => recipients));
    const day = Math.floor(decidedAt / DAY_MS);
    this.#perDay.set(day, (this.#perDay.get(day) ?? 0) + packets.length);
  }
}

/** By the id of the suggestion that each would be: the same shape has the same, whenever it is asked for. */
function shapesOf(approval: DecidedApproval): Map<string, { shape: Shape; packets: DecidedAction[] }> {
  const shapes = new Map<string, { shape: Shape; packets: DecidedAction[] }>();
  for (const packet of approval.packets) {
    const shape = shapeOf(approval, packet);
    if (!shape) continue;
    const id = idOf(shape);
    const found = shapes.get(id);
    if (found) found.packets.push(packet);
    else shapes.set(id, { shape, packets: [packet] });
  }
  return shapes;
}

/** Undefined where no order could say what such work packets have in common. */
function shapeOf({ teamId, capo, agent }: DecidedApproval, action: DecidedAction): Shape | undefined {
  const { type: actionType, amount, currency } = action;
  // Without a name no order could say who may ask.
  if (capo === null && agent === null) return undefined;
  const reached = capo === null ? reachedByTool(action) : reachedByCapo(action);
  if (!reached || (amount !== null && currency === null)) return undefined;
  const money =
    amount === null
      ? { amountWithin: null, currency: null }
      : { amountWithin: powerOfTenAbove(Math.abs(amount)), currency };
  return { teamId, capo, ...(capo === null && { agent: agent! }), actionType, ...reached, ...money };
}

type Reached = Pick<Shape, 'domains' | 'target' | 'parameter' | 'destinationId'>;
const NOBODY: Reached = { domains: null, target: null };

/** Whom a tool reaches stands in one parameter: mail to several people of the same few domains, or always the same one. */
function reachedByTool({ reaches }: DecidedAction): Reached | undefined {
  if (!reaches) return NOBODY;
  const { parameter, values } = reaches;
  const listed = [...new Set([values].flat())];
  if (listed.length === 0 || !listed.every((value) => typeof value === 'string')) return undefined;
  const domains = [...new Set(listed.flatMap(domainsIn))];
  if (!domains.includes(undefined)) return withDomains(domains as string[], parameter);
  return listed.length === 1 && listed[0]!.length <= MAX_TEXT
    ? { domains: null, target: listed[0]!, parameter }
    : undefined;
}

function reachedByCapo({ type, target, destinationId }: DecidedAction): Reached | undefined {
  if (!isActionType(type)) return undefined;
  if (!['message', 'call'].includes(ACTION_TYPES[type].kind)) return NOBODY;
  if (target === null) return undefined;
  if (destinationId !== null)
    return { domains: null, target: destinationIn({ destination: target, destinationId }), destinationId };
  const found = domainsIn(target);
  if (found.includes(undefined)) return { domains: null, target };
  return withDomains([...new Set(found)] as string[]);
}

function withDomains(domains: readonly string[], parameter?: string): Reached | undefined {
  if (domains.length > MAX_DOMAINS) return undefined;
  return { domains: domains.toSorted(), target: null, ...(parameter !== undefined && { parameter }) };
}

function powerOfTenAbove(amount: number): number {
  let bound = 1;
  while (bound < amount) bound *= 10;
  return bound;
}

/** 128 bits of the hash of the shape, written as every id is. */
function idOf(shape: Shape): Id<'sug'> {
  let bits = BigInt(`0x${sha256(canonicalJson(shape)).slice(0, 32)}`);
  let text = '';
  for (let at = 0; at < 26; at++) {
    text = '0123456789abcdefghjkmnpqrstvwxyz'[Number(bits & 31n)]! + text;
    bits >>= 5n;
  }
  return `sug_${text}`;
}

function suggestionOf(suggestionId: Id<'sug'>, tally: Tally): Suggestion {
  const { shape, approvals, lastApprovedAt } = tally;
  const what = inWords(shape);
  return {
    suggestionId,
    name: cutText(what, MAX_NAME),
    text: cutText(
      `${what}: at most ${tally.mostOfADay} a day, as in the last ${WITHIN_DAYS} days, when ${approvals} of these were approved without a change.${shape.teamId === null ? ` It holds for ${shape.capo === null ? 'what it asks for in every team' : 'the work packets of every team'}.` : ''}`,
      4_000,
    ),
    rule: ruleOf(tally),
    approvals,
    lastApprovedAt,
  };
}

function inWords({ capo, agent, actionType, domains, target, amountWithin, currency }: Shape): string {
  const to = domains?.join(', ') ?? (target && markUnseen(target.replace(new RegExp(CONTROL, 'gu'), ' ')));
  return [
    `${capo === null ? agent : CAPOS[capo].name}: ${actionType}`,
    ...(to === null ? [] : [`to ${to}`]),
    ...(amountWithin === null ? [] : [`of up to ${amountWithin} ${currency}`]),
  ].join(' ');
}

function ruleOf({ shape, mostOfADay, mostRecipients }: Tally): StandingOrderRule {
  const { teamId, capo, agent, actionType } = shape;
  const fields = conditionsOf(shape);
  return {
    teamId,
    capos: capo && [capo],
    effect: 'allow',
    match: {
      ...(agent !== undefined && { agents: [agent] }),
      actionTypes: [actionType],
      ...(Object.keys(fields).length > 0 && { fields }),
    },
    when: null,
    limits: { maxPerDay: mostOfADay, ...(mostRecipients > 0 && { maxRecipients: mostRecipients }) },
    budget: null,
    approval: null,
    expiresAt: null,
  };
}

function conditionsOf(shape: Shape): Record<string, FieldCondition> {
  const { actionType, domains, target, destinationId, amountWithin, currency } = shape;
  // The recipients of a mail include those of its copies (directives/packets/work-packet.ts).
  const { parameter = actionType === 'email.send' && domains ? 'params.to' : 'target' } = shape;
  return {
    ...(domains && { [parameter]: { $domainIn: domains } }),
    ...(target !== null &&
      (destinationId === undefined
        ? { [parameter]: { $eq: target } }
        : { 'params.destinationId': { $eq: destinationId } })),
    ...(amountWithin !== null && { amount: { $lte: amountWithin }, currency: { $eq: currency! } }),
  };
}
