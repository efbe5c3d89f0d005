import { hasRole, type Role } from '../../platform/auth/caller.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { valueAt } from '../../platform/kernel/value-at.js';
import { APPROVAL_LASTS_MS, type GuardianMode } from '../terms/terms.js';
import { namesAction } from '../terms/tool-names.js';
import { hashOf, isOfContent, nounOf, policyOf, recorded } from './decision-input.js';
import type {
  DecidedPacket,
  DecisionInput,
  DecisionOrder,
  Policy,
  RecordedInput,
  RecordedPacket,
} from './decision-input.js';
import { checkLimits, type LimitCheck, type LimitResult } from './limits.js';
import { fieldsMatch } from './match.js';
import { strictness, tightens } from './standing-order.js';
import type { ApprovingRole, Effect, OnExpiry, OrderLimits } from './standing-order.js';
import { appliesAt } from './when.js';

/** Whom an order lets approve: members with at least one of the roles, and those it names. */
export interface NamedApprovers {
  standingOrderId: string;
  /** The name of the order. */
  name: string;
  roles: ApprovingRole[];
  memberIds: string[];
}

/** How many people have to approve, and who they may be. */
export interface Electorate {
  quorum: number;
  /** A member may approve if each of these orders names them; none: everybody who may approve. */
  approvers: NamedApprovers[];
}

/** The terms of an approval of the work packet: the strictest of the orders that matched. An electorate is left out where any one member may approve. */
interface ApprovalTerms extends Partial<Electorate> {
  expiresInMinutes: number;
  onExpiry: OnExpiry;
  selfApproval: boolean;
}

export interface Decision {
  outcome: Effect;
  /** In a person's words, what decided first. */
  explanation: string[];
  /** Ids of all orders that were looked at. */
  considered: string[];
  matched: { standingOrderId: string; version: number; effect: Effect }[];
  limits: LimitResult[];
  guardian: GuardianMode;
  approval: ApprovalTerms;
  /** Where the outcome is `throttle`: when it is decided again, Unix milliseconds. Null with any other outcome. */
  throttledUntil: number | null;
  /** What each order that is only tried out would have changed, if it alone had been active as well. */
  shadow: ShadowResult[];
  /** SHA-256 over the canonical JSON of the recorded input. */
  inputHash: string;
}

export type DecisionWithoutHash = Omit<Decision, 'inputHash'>;

/** What the decision would have been with an order that is only tried out; it has no effect. */
interface ShadowResult {
  standingOrderId: string;
  version: number;
  effect: Effect;
  outcome: Effect;
  /** What the order itself would have said, for a person. */
  explanation: string[];
}

/** One voice in a decision: the work packet gets nothing looser than `outcome`. */
interface Reason {
  outcome: Effect;
  because: string;
}

export const APPROVAL_LASTS_MINUTES = APPROVAL_LASTS_MS / 60_000;

/** An order that throttles without a limit, which none may be created as, delays for this long at a time. */
const WITHOUT_PACE_MS = 3_600_000;

/**
 * Decides one work packet. Total: it answers for any JSON, and never throws. Order-free: each order that matches, the
 * lack of one that allows, and the guardian's mode give one reason each, and the strictest reason is the outcome. So a
 * further reason can only tighten, and no order can undo another.
 *
 * An order that throttles is a pace, not a permission: within its limits it says nothing, and the work packet still needs
 * an order that allows it. Otherwise an operator, who may only tighten, could allow by throttling.
 */
export function evaluate(input: DecisionInput): Decision {
  return decide(recorded(input), policyOf(input.orders));
}

/**
 * Makes a decision again from what was recorded of it. `orders` are those of its policy; with others it comes out with
 * another `inputHash`.
 */
export function evaluateAgain(input: RecordedInput, orders: readonly DecisionOrder[]): Decision {
  const policy = policyOf(orders);
  return decide({ ...input, policy: policy.hash }, policy);
}

function decide(input: RecordedInput, policy: Policy): Decision {
  return { ...evaluateWithoutHash(input, policy), inputHash: hashOf(input) };
}

/** {@link evaluateAgain} without the hash of the inputs, which is a third of its cost. */
export function evaluateAgainWithoutHash(
  input: RecordedInput,
  orders: readonly DecisionOrder[],
): DecisionWithoutHash {
  return evaluateWithoutHash(input, policyOf(orders));
}

function evaluateWithoutHash(input: RecordedInput, { orders }: Pick<Policy, 'orders'>): DecisionWithoutHash {
  const concerned = orders.filter((order) => matches(order, input));
  const matched = concerned.filter(({ status }) => status === 'active');
  const answers = matched.map((order) => answerOf(order, input));
  const reasons = reasonsFor(answers, input);
  const outcome = reasons[0]?.outcome ?? 'require_approval';
  return {
    outcome,
    explanation: explanationOf(reasons, outcome, input.guardian.mode),
    considered: orders.map((order) => order.standingOrderId),
    matched: matched.map(({ standingOrderId, version, effect }) => ({ standingOrderId, version, effect })),
    limits: answers.flatMap(({ checks }) => checks.map((check) => check.result)),
    guardian: input.guardian.mode,
    approval: approvalTerms(matched),
    throttledUntil: outcome === 'throttle' ? latestRoom(answers, input.at) : null,
    shadow: concerned
      .filter(({ status }) => status === 'shadow')
      .map((order) => shadowResult(order, answers, input)),
  };
}

/** What an order that matches answers: where its limits stand, and what it says of the work packet. */
interface OrderAnswer {
  order: DecisionOrder;
  checks: LimitCheck[];
  reasons: Reason[];
}

function answerOf(order: DecisionOrder, input: RecordedInput): OrderAnswer {
  const checks = limitsOf(order, input);
  return { order, checks, reasons: reasonsOf(order, checks, input.packet) };
}

/** The strictest first. */
function reasonsFor(answers: readonly OrderAnswer[], { guardian, packet }: RecordedInput): Reason[] {
  const isAllowed = answers.some(({ order }) => order.effect === 'allow');
  return [
    ...answers.flatMap(({ reasons }) => reasons),
    ...(isAllowed ? [] : [withoutPermission(guardian.mode, packet)]),
    ...(packet.outside?.isRegistered === false ? [UNREGISTERED] : []),
    ...guardianReasons(guardian.mode, packet),
  ].toSorted((a, b) => strictness(b.outcome) - strictness(a.outcome));
}

/** Why a work packet is asked about, or waits, is said by what causes that, and not by what allows it. While halted nobody is asked. */
function explanationOf(reasons: readonly Reason[], decided: Effect, mode: GuardianMode): string[] {
  const isHalted = mode === 'killed' || mode === 'recovering';
  const isHeld = !isHalted && (decided === 'require_approval' || decided === 'throttle');
  const told = isHeld ? reasons.filter(({ outcome }) => outcome !== 'allow') : reasons;
  return told.map(({ because }) => because);
}

/** There is room when there is room within every limit that makes it wait. */
function latestRoom(answers: readonly OrderAnswer[], at: number): number {
  const untils = answers.flatMap(({ checks }) => checks.flatMap(({ result }) => result.until ?? []));
  return untils.length > 0 ? Math.max(...untils) : at + WITHOUT_PACE_MS;
}

/** Each by itself: two orders that are tried out together would hide what either of them does. */
function shadowResult(
  order: DecisionOrder,
  active: readonly OrderAnswer[],
  input: RecordedInput,
): ShadowResult {
  const { standingOrderId, version, effect } = order;
  const own = answerOf(order, input);
  const [first] = reasonsFor([...active, own], input);
  return {
    standingOrderId,
    version,
    effect,
    outcome: first?.outcome ?? 'require_approval',
    explanation: own.reasons.map(({ because }) => because),
  };
}

/**
 * What cannot be read for certain counts against the packet: an order that allows is then taken not to match, and one
 * that tightens is taken to match.
 */
function matches(order: DecisionOrder, { at, presence, packet }: RecordedInput): boolean {
  const { fields } = order.match;
  const doubt = tightens(order);
  return (
    at < (order.expiresAt ?? Infinity) &&
    mayConcern(order, packet) &&
    (order.effect !== 'allow' || unreadBound(order, packet) === undefined) &&
    (!fields || fieldsMatch(fields, (path) => recordedAt(packet, path), doubt)) &&
    (!order.when || appliesAt(order.when, at, presence, doubt))
  );
}

/** False when the order is about other work packets, whatever this one's parameters are, and whenever it is decided. */
export function mayConcern(
  {
    teamId,
    capos,
    effect,
    match: { actionTypes, agents, reversibility, priorities },
  }: Pick<DecisionOrder, 'teamId' | 'capos' | 'effect' | 'match'>,
  packet: Pick<DecidedPacket, 'teamId' | 'capo' | 'actionType' | 'reversibility' | 'priority' | 'outside'>,
): boolean {
  const { capo, actionType, outside } = packet;
  return (
    (teamId ?? packet.teamId) === packet.teamId &&
    (!capos || (capo !== null && capos.includes(capo))) &&
    // What an agent from outside asks for is allowed, or paced, by an order that names it.
    (actionTypes
      ? actionTypes.some((pattern) => namesAction(pattern, actionType))
      : !outside || effect === 'deny' || effect === 'require_approval') &&
    (!agents || (outside?.agent !== undefined && outside.agent !== null && agents.includes(outside.agent))) &&
    (!reversibility || reversibility.includes(packet.reversibility)) &&
    (!priorities || priorities.includes(packet.priority))
  );
}

/** What keeps the order from this work packet, in a person's words; it matches where there is nothing. */
export function unmetParts(order: DecisionOrder, input: RecordedInput): string[] {
  if (matches(order, input)) return [];
  const { at, presence, packet } = input;
  const { actionTypes, agents, reversibility, priorities, fields } = order.match;
  const doubt = tightens(order);
  const unmet = (
    name: string,
    part: Partial<Pick<DecisionOrder, 'teamId' | 'capos' | 'effect' | 'match'>>,
  ) => (mayConcern({ ...ABOUT_ALL, ...part }, packet) ? [] : [name]);
  const parts = [
    ...(at < (order.expiresAt ?? Infinity) ? [] : ['the time, since the order has expired by then']),
    ...unmet('the team', { teamId: order.teamId }),
    ...unmet('the action', { effect: order.effect, match: { actionTypes } }),
    ...unmet('the capo', { capos: order.capos }),
    ...unmet('the agent', { match: { agents } }),
    ...unmet('whether it can be taken back', { match: { reversibility } }),
    ...unmet('the priority', { match: { priorities } }),
    ...Object.entries(fields ?? {}).flatMap(([path, condition]) =>
      fieldsMatch({ [path]: condition }, (one) => recordedAt(packet, one), doubt) ? [] : [fieldInWords(path)],
    ),
    ...(order.when && !appliesAt(order.when, at, presence, doubt)
      ? ['the time, or whether the operator is away']
      : []),
  ];
  return parts.length > 0 ? parts : ['what its limits count, which the tool does not tell'];
}

const ABOUT_ALL = { teamId: null, capos: null, effect: 'deny', match: {} } as const;

function fieldInWords(path: string): string {
  const name = path.replace(/^params\./, '');
  if (name === 'target' || name === 'to') return 'the recipient';
  return `the ${name}`;
}

/**
 * What a limit or the budget of the order is about and cannot be read in this action of an agent from outside, for a person. An
 * order does not allow what it cannot measure (CONTRACT section 7).
 */
function unreadBound(
  { limits, budget }: Pick<DecisionOrder, 'limits' | 'budget'>,
  { outside, currency }: Pick<RecordedPacket, 'outside' | 'currency'>,
): string | undefined {
  if (!outside) return undefined;
  const isBounded = (limit: keyof OrderLimits) => typeof limits?.[limit] === 'number';
  if (isBounded('maxRecipients') && outside.unread.includes('recipients')) return 'its recipients';
  const bounds = [
    ...(budget ? [budget.currency] : []),
    ...(isBounded('maxAmountPerDay') ? [outside.currency] : []),
  ];
  if (bounds.length > 0 && outside.unread.includes('amount')) return 'its amount';
  return bounds.every((each) => each === currency) ? undefined : 'an amount in this currency';
}

function recordedAt({ fields, ...facts }: RecordedPacket, path: string): unknown {
  if (isOfContent(path)) return Object.hasOwn(fields, path) ? fields[path] : undefined;
  return valueAt(facts, path);
}

function limitsOf(order: DecisionOrder, input: RecordedInput): LimitCheck[] {
  if (order.effect === 'deny' || order.effect === 'require_approval') return [];
  const { packet, usage } = input;
  const own = Object.hasOwn(usage, order.standingOrderId) ? usage[order.standingOrderId] : undefined;
  return checkLimits(order, packet, input, own);
}

function reasonsOf(order: DecisionOrder, checks: LimitCheck[], packet: RecordedPacket): Reason[] {
  const name = `The standing order "${order.name}"`;
  const noun = nounOf(packet);
  const unread = order.effect === 'throttle' ? unreadBound(order, packet) : undefined;
  if (unread !== undefined) {
    const because = `${name} limits the pace of this ${noun}, but ${unread} cannot be measured by it.`;
    return [{ outcome: 'require_approval', because }];
  }
  if (order.effect === 'deny') return [{ outcome: 'deny', because: `${name} forbids this ${noun}.` }];
  if (order.effect === 'require_approval') {
    return [{ outcome: 'require_approval', because: `${name} requires ${whoseApproval(order, noun)}.` }];
  }
  // Validation asks for a limit; without one there is no pace that the work packet could keep.
  if (order.effect === 'throttle' && checks.length === 0) {
    return [{ outcome: 'throttle', because: `${name} delays this ${noun}.` }];
  }
  const remarks = checks.flatMap(({ result, otherwise, remark }): Reason[] =>
    remark === null
      ? []
      : [
          {
            outcome: result.holds ? 'allow' : otherwise,
            because: `${name} ${says(order, result.holds, noun)}, but ${remark}.`,
          },
        ],
  );
  return remarks.length > 0
    ? remarks
    : [{ outcome: 'allow', because: `${name} ${says(order, true, noun)}.` }];
}

function whoseApproval({ approval }: DecisionOrder, noun: string): string {
  const quorum = approval?.quorum ?? 1;
  if (approval?.approvers) {
    return quorum > 1
      ? `${quorum} of the approvers that it names to approve this ${noun}`
      : `an approval by one of the approvers that it names for this ${noun}`;
  }
  return quorum > 1 ? `${quorum} people to approve this ${noun}` : `an approval for this ${noun}`;
}

function says({ effect }: DecisionOrder, isWithinLimit: boolean, noun: string): string {
  if (effect !== 'allow') return `limits the pace of this ${noun}`;
  return isWithinLimit ? `allows this ${noun}` : `would allow this ${noun}`;
}

/** No order and no mode allows a tool of which nobody here has said what it does (CONTRACT section 7). */
const UNREGISTERED: Reason = {
  outcome: 'require_approval',
  because:
    'This tool is not registered here as the agent knows it, or not active: each call of it needs an approval.',
};

/** Spec: without standing orders, autonomous work stops at review. The one exception is the autonomous mode. */
function withoutPermission(mode: GuardianMode, packet: RecordedPacket): Reason {
  const { reversibility } = packet;
  const noun = nounOf(packet);
  const isHarmless = reversibility === 'read_only' || reversibility === 'reversible';
  const mayGo = mode === 'autonomous' && isHarmless;
  return mayGo
    ? {
        outcome: 'allow',
        because: `The guardian is autonomous: ${noun}s that can be undone need no standing order.`,
      }
    : { outcome: 'require_approval', because: `No standing order allows this ${noun}.` };
}

/**
 * A mode only ever restricts. `observe`, `killed` and `recovering` let nothing leave, and yet they ask rather than
 * deny: a denial ends the directive for good, while a mode passes. The dispatch, which checks the mode again in the
 * transaction that marks a packet as sending, is what keeps an approved one from leaving under them. A mode that
 * this version does not know is treated as they are.
 */
function guardianReasons(mode: GuardianMode, packet: RecordedPacket): Reason[] {
  const noun = nounOf(packet);
  switch (mode) {
    case 'guardrailed':
      return [];
    case 'autonomous':
      return packet.reversibility === 'irreversible'
        ? [
            {
              outcome: 'require_approval',
              because: `The guardian is autonomous: ${noun}s that cannot be undone still need an approval.`,
            },
          ]
        : [];
    case 'supervised':
      return [
        {
          outcome: 'require_approval',
          because: `The guardian is supervised: every ${noun} needs an approval.`,
        },
      ];
    default:
      return [
        {
          outcome: 'require_approval',
          because: `The guardian is in the mode "${mode}": nothing is sent automatically.`,
        },
      ];
  }
}

/** Whether it was denied by what it would cost, and by no order that denies. */
export function isDeniedByBudget({ outcome, matched }: Pick<Decision, 'outcome' | 'matched'>): boolean {
  return outcome === 'deny' && !matched.some(({ effect }) => effect === 'deny');
}

function approvalTerms(matched: readonly DecisionOrder[]): ApprovalTerms {
  const terms = matched.flatMap((order) => order.approval ?? []);
  const expiries = terms.flatMap((term) => term.expiresInMinutes ?? []);
  const onExpiry = terms.flatMap((term) => term.onExpiry ?? []);
  const quorum = Math.max(1, ...terms.flatMap((term) => term.quorum ?? []));
  const approvers = matched.flatMap(({ standingOrderId, name, approval }): NamedApprovers[] => {
    if (!approval?.approvers) return [];
    const { roles, memberIds } = approval.approvers;
    return [{ standingOrderId, name, roles: [...(roles ?? [])], memberIds: [...(memberIds ?? [])] }];
  });
  return {
    expiresInMinutes: expiries.length > 0 ? Math.min(...expiries) : APPROVAL_LASTS_MINUTES,
    // Rejecting is stricter than escalating: nobody is left who could still say yes.
    onExpiry: onExpiry.length === 0 || onExpiry.includes('reject') ? 'reject' : 'escalate',
    // Where several people decide, none of them has asked for it (CONTRACT section 7).
    selfApproval: quorum === 1 && terms.every((term) => term.selfApproval !== false),
    ...(quorum > 1 && { quorum }),
    ...(approvers.length > 0 && { approvers }),
  };
}

/** Whether this member, with this role where the approval belongs, is among those whom an order lets approve. */
export function isNamed(
  { roles, memberIds }: Pick<NamedApprovers, 'roles' | 'memberIds'>,
  { memberId, role }: { memberId: string; role: Role },
): boolean {
  return memberIds.includes(memberId) || roles.some((least) => hasRole(role, least));
}

/** The strictest of several: the highest quorum, and the approvers that all of them name. */
export function strictestElectorate(terms: readonly Partial<Electorate>[]): Electorate {
  const approvers = terms.flatMap((term) => term.approvers ?? []);
  return {
    quorum: Math.max(1, ...terms.flatMap((term) => term.quorum ?? [])),
    approvers: [...new Map(approvers.map((named) => [canonicalJson(named), named])).values()],
  };
}
