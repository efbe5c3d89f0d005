import { ValidateBy, type ValidationArguments } from 'class-validator';
import { isCurrency } from '../../platform/kernel/currency.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { isLongerThan } from '../../platform/kernel/text-length.js';
import { cutText } from '../../platform/kernel/text.js';
import { type CapoRole, isToolPattern, type Reversibility } from '../terms/index.js';
import { canonicalDomain, fieldsMatch } from './match.js';
import type { FieldCondition, OrderMatch, StandingOrderRule } from './standing-order.js';
import { firstOpening } from './when.js';

const MAX_FIELDS = 20;
const MAX_LIST = 100;
const MAX_TEXT = 500;
const MAX_SEGMENTS = 8;

/** What a path may start with. A misspelt root would make an order that silently never matches. */
const WHOLE_FIELDS = ['target', 'recipients', 'amount', 'currency', 'engine'];
const SEGMENT = /^[A-Za-z0-9_-]{1,64}$/;
const NOT_DATA = ['__proto__', 'constructor', 'prototype'];

/** What each operator takes, in the words of the message. */
const OPERANDS: Record<keyof FieldCondition, [accepts: (operand: unknown) => boolean, takes: string]> = {
  $eq: [isScalar, 'a text, number or boolean'],
  $ne: [isScalar, 'a text, number or boolean'],
  $lt: [Number.isFinite, 'a number'],
  $lte: [Number.isFinite, 'a number'],
  $gt: [Number.isFinite, 'a number'],
  $gte: [Number.isFinite, 'a number'],
  $in: [isListOf(isScalar), `a list of 1 to ${MAX_LIST} texts, numbers or booleans`],
  $nin: [isListOf(isScalar), `a list of 1 to ${MAX_LIST} texts, numbers or booleans`],
  $exists: [(operand) => typeof operand === 'boolean', 'true or false'],
  $prefix: [isPartOfText, `a text of 1 to ${MAX_TEXT} characters`],
  $suffix: [isPartOfText, `a text of 1 to ${MAX_TEXT} characters`],
  $domainIn: [isListOf(isDomain), `a list of 1 to ${MAX_LIST} domains such as example.com`],
};

/** The faults of `match.fields`, each for a person; none when the conditions can be stored. */
export function fieldFaults(fields: unknown): string[] {
  if (!isRecord(fields)) return ['fields must be an object of conditions by path'];
  const paths = Object.keys(fields);
  // None at all is refused too: Nest's pipe drops names such as `constructor` without a word, and an order that was
  // meant to be narrow would be wide.
  if (paths.length === 0 || paths.length > MAX_FIELDS) return [`fields must have 1 to ${MAX_FIELDS} paths`];
  return paths.flatMap((path) => [...pathFaults(path), ...shapeFaults(path, fields[path])]);
}

function pathFaults(path: string): string[] {
  if (WHOLE_FIELDS.includes(path)) return [];
  const [root, ...segments] = path.split('.');
  const named = segments.length > 0 && segments.length < MAX_SEGMENTS;
  const plain = segments.every((segment) => SEGMENT.test(segment) && !NOT_DATA.includes(segment));
  if (root === 'params' && named && plain) return [];
  return [
    `${shown(path)}: a path is ${WHOLE_FIELDS.join(', ')} or params.<name>, at most ${MAX_SEGMENTS} names long`,
  ];
}

function shapeFaults(path: string, condition: unknown): string[] {
  if (!isRecord(condition) || Object.keys(condition).length === 0) {
    return [`${shown(path)}: a condition is an object with at least one operator`];
  }
  return Object.entries(condition).flatMap(([operator, operand]) => {
    if (!Object.hasOwn(OPERANDS, operator)) {
      return [`${shown(path)}: ${shown(operator)} is not one of ${Object.keys(OPERANDS).join(' ')}`];
    }
    const [accepts, takes] = OPERANDS[operator as keyof FieldCondition];
    return accepts(operand) ? [] : [`${shown(path)}: ${operator} must be ${takes}`];
  });
}

export function AreFieldConditions(): PropertyDecorator {
  return ValidateBy({
    name: 'areFieldConditions',
    validator: {
      validate: (value) => fieldFaults(value).length === 0,
      defaultMessage: (args) => fieldFaults(args?.value).join('; '),
    },
  });
}

/** The other end of a window: there, and another time, because 09:00 to 09:00 could mean no hour or all of them. */
export function HasOtherEnd(other: 'from' | 'to'): PropertyDecorator {
  return ValidateBy({
    name: 'hasOtherEnd',
    validator: {
      validate: (value, args) => isText(sibling(args, other)) && sibling(args, other) !== value,
      defaultMessage: () => `$property needs ${other}, and the two must differ`,
    },
  });
}

function sibling(args: ValidationArguments | undefined, property: string): unknown {
  return (args?.object as Record<string, unknown> | undefined)?.[property];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && !isLongerThan(value, MAX_TEXT);
}

function isPartOfText(value: unknown): boolean {
  return isText(value) && value !== '';
}

function isScalar(value: unknown): boolean {
  return isText(value) || typeof value === 'boolean' || Number.isFinite(value);
}

function isDomain(value: unknown): boolean {
  return (
    isText(value) &&
    /^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+$/u.test(value) &&
    canonicalDomain(value) !== undefined
  );
}

function isListOf(accepts: (element: unknown) => boolean): (operand: unknown) => boolean {
  return (operand) =>
    Array.isArray(operand) && operand.length > 0 && operand.length <= MAX_LIST && operand.every(accepts);
}

/** A message quotes what was sent, but not megabytes of it. */
function shown(text: string): string {
  return JSON.stringify(cutText(text, 80));
}

/** What kind of value stands at the paths that every work packet has; a parameter may be anything. */
const KINDS: Readonly<Record<string, 'number' | 'string'>> = {
  target: 'string',
  recipients: 'number',
  amount: 'number',
  currency: 'string',
  engine: 'string',
};

/** What an operator compares with alone; null: with any value. */
const COMPARES_WITH: Readonly<Record<keyof FieldCondition, 'number' | 'text' | null>> = {
  $eq: null,
  $ne: null,
  $lt: 'number',
  $lte: 'number',
  $gt: 'number',
  $gte: 'number',
  $in: null,
  $nin: null,
  $exists: null,
  $prefix: 'text',
  $suffix: 'text',
  $domainIn: 'text',
};
const BOUNDS = ['$lt', '$lte', '$gt', '$gte'] as const;

/** Why no value can satisfy the condition at this path, for a person; undefined where one can. */
function contradictionIn(path: string, condition: FieldCondition): string | undefined {
  if (condition.$exists === false) {
    const alone = Object.keys(condition).length === 1;
    return alone ? undefined : '$exists: false contradicts every other operator';
  }
  const named = valuesNamed(condition);
  if (named) {
    if (named.some((value) => isOfKind(path, value) && satisfies(condition, value))) return undefined;
    return `no value of ${condition.$eq === undefined ? '$in' : '$eq'} satisfies the whole condition`;
  }
  const kinds = kindsAskedFor(path, condition);
  if (kinds.length > 1) return `no value is a ${kinds.join(' and a ')} at once`;
  return emptyRange(path, condition);
}

/** The first value that such a condition compares a currency with and that is none. */
function unknownCurrencyIn(path: string, condition: FieldCondition): unknown {
  if (path !== 'currency' && path !== 'params.currency') return undefined;
  const { $eq, $ne, $in = [], $nin = [] } = condition;
  return [$eq, $ne, ...$in, ...$nin].find((value) => value !== undefined && !isCurrency(value));
}

/** The values that the condition lists itself; undefined where it lists none. */
function valuesNamed({ $eq, $in }: FieldCondition): readonly unknown[] | undefined {
  return $eq === undefined ? $in : [$eq];
}

function satisfies(condition: FieldCondition, value: unknown): boolean {
  return fieldsMatch({ value: condition }, () => value, false);
}

function isOfKind(path: string, value: unknown): boolean {
  return !Object.hasOwn(KINDS, path) || typeof value === KINDS[path];
}

function kindsAskedFor(path: string, condition: FieldCondition): string[] {
  const asked = Object.keys(condition).map((operator) => COMPARES_WITH[operator as keyof FieldCondition]);
  const isOfPath = (kind: string) => Object.hasOwn(KINDS, path) && KINDS[path] === kind;
  return [
    ...(asked.includes('number') || isOfPath('number') ? ['number'] : []),
    ...(asked.includes('text') || isOfPath('string') ? ['text'] : []),
  ];
}

function emptyRange(path: string, condition: FieldCondition): string | undefined {
  const { $lt, $lte, $gt, $gte } = condition;
  const upper = Math.min($lt ?? Infinity, $lte ?? Infinity);
  // There is no negative number of recipients.
  const lower = Math.max($gt ?? -Infinity, $gte ?? -Infinity, path === 'recipients' ? 0 : -Infinity);
  if (lower < upper || (lower === upper && upper !== $lt && lower !== $gt)) return undefined;
  const bounds = BOUNDS.flatMap((operator) => {
    const bound = condition[operator];
    return bound === undefined ? [] : [`${operator} ${bound}`];
  });
  return `${bounds.join(' and ')} leave${bounds.length > 1 ? '' : 's'} no number`;
}

/** What an order has to know of an action type. */
interface KnownAction {
  /** Every class that such a work packet may have. */
  classes: readonly Reversibility[];
  /** Who can make such a work packet. */
  capos: readonly CapoRole[];
  /** The names of its parameters. */
  parameters: readonly string[];
}

export type KnownActions = Readonly<Record<string, KnownAction>>;

/**
 * Why an order with this rule could never apply to any work packet: it contradicts itself, or asks for what no action has.
 * None of it can be told from one property alone. The author of such an order believes that it
 * allows or denies something.
 *
 * @param toolParameters of each tool of an order that names registered tools and nothing else
 */
export function ruleFaults(
  rule: StandingOrderRule,
  known: KnownActions,
  at: number,
  toolParameters?: readonly string[][],
): Fault[] {
  const unknown = unknownTypes(rule, known);
  const matching = unknown.length > 0 ? [] : matchingActions(rule, known);
  const isAboutTools =
    unknown.length === 0 && Boolean(rule.match.agents || rule.match.actionTypes?.some(isToolPattern));
  return [
    ...unknown,
    ...(isAboutTools ? toolFaults(rule) : unknown.length > 0 ? [] : scopeFaults(rule, known)),
    ...conditionFaults(
      rule.match,
      isAboutTools
        ? toolParameters
        : (matching.length > 0 ? matching : Object.values(known)).map(({ parameters }) => parameters),
    ),
    ...windowFaults(rule, at),
    ...boundFaults(rule),
    ...electorateFaults(rule),
  ];
}

/** Capos use no tools of agents from outside, so an order for capos can name none. */
function unknownTypes({ capos, match }: StandingOrderRule, known: KnownActions): Fault[] {
  return (match.actionTypes ?? []).flatMap((type, index) =>
    Object.hasOwn(known, type) || (!capos && isToolPattern(type))
      ? []
      : [
          fault(
            `match.actionTypes.${index}`,
            'isKnownAction',
            `${type} is not an action type; there are ${Object.keys(known).join(', ')}`,
          ),
        ],
  );
}

/** An agent from outside is no capo, and none of our own actions is done by one. */
function toolFaults({ capos, match: { actionTypes, agents } }: StandingOrderRule): Fault[] {
  const own = (actionTypes ?? []).filter((type) => !isToolPattern(type));
  return [
    ...(capos ? [fault('capos', 'isWithinScope', 'no capo uses the tools of agents from outside')] : []),
    ...(agents && own.length > 0
      ? [fault('match.agents', 'isWithinScope', `no agent from outside does ${own.join(', ')}`)]
      : []),
  ];
}

function matchingActions({ capos, match }: StandingOrderRule, known: KnownActions): KnownAction[] {
  const { actionTypes, reversibility } = match;
  return Object.entries(known)
    .filter(([type]) => !actionTypes || actionTypes.includes(type))
    .map(([, action]) => action)
    .filter((action) => !capos || action.capos.some((capo) => capos.includes(capo)))
    .filter((action) => !reversibility || action.classes.some((each) => reversibility.includes(each)));
}

/** The capos, the action types and the classes each narrow the order; together they must leave something. */
function scopeFaults(rule: StandingOrderRule, known: KnownActions): Fault[] {
  if (matchingActions(rule, known).length > 0) return [];
  const { reversibility, actionTypes } = rule.match;
  if (actionTypes && matchingActions({ ...rule, match: { actionTypes } }, known).length === 0) {
    const message = `none of the capos of the order can do any of its action types (${actionTypes.join(', ')})`;
    return [fault('match.actionTypes', 'isWithinScope', message)];
  }
  const message = `no action that the order is about is ${reversibility!.join(' or ')}`;
  return [fault('match.reversibility', 'isWithinScope', message)];
}

function conditionFaults(
  { fields }: OrderMatch,
  matching: readonly (readonly string[])[] | undefined,
): Fault[] {
  return Object.entries(fields ?? {}).flatMap(([path, condition]) => {
    const at = `match.fields.${path}`;
    const parameter = path.startsWith('params.') ? path.split('.')[1]! : undefined;
    if (
      matching &&
      parameter !== undefined &&
      !matching.some((parameters) => parameters.includes(parameter))
    ) {
      const names = [...new Set(matching.flat())].toSorted().join(', ');
      const message = `no action that the order is about has a parameter ${parameter}; there are ${names}`;
      return [fault(at, 'isKnownParameter', message)];
    }
    const currency = unknownCurrencyIn(path, condition);
    if (currency !== undefined) {
      const message = `${JSON.stringify(currency)} is not a code of ISO 4217 in upper case, such as EUR`;
      return [fault(at, 'isCurrency', message)];
    }
    const because = contradictionIn(path, condition);
    return because === undefined
      ? []
      : [fault(at, 'isSatisfiable', `the condition contradicts itself: ${because}`)];
  });
}

function windowFaults({ when, expiresAt }: StandingOrderRule, at: number): Fault[] {
  if (expiresAt === null || !when || firstOpening(when, at) < expiresAt) return [];
  const message = 'the order expires before its window opens for the first time';
  return [fault('expiresAt', 'isAfterOpening', message)];
}

/**
 * A limit on an order that denies would read as "deny beyond it", which is not what a denial does; and to throttle without
 * a pace would delay every work packet for ever, which is a denial by another name.
 */
function boundFaults({ effect, limits, budget }: StandingOrderRule): Fault[] {
  const isBounded = effect === 'allow' || effect === 'throttle';
  const bounds = Object.entries({ limits, budget }).filter(([, bound]) => bound !== null);
  if (!isBounded) {
    return bounds.map(([name]) =>
      fault(name, 'onlyWithEffect', `${name} is only for an order whose effect is allow or throttle`),
    );
  }
  const hasPace = budget !== null || Object.values(limits ?? {}).some((limit) => typeof limit === 'number');
  if (effect === 'allow' || hasPace) return [];
  return [
    fault('effect', 'hasPaceToThrottle', 'an order that throttles needs at least one limit or a budget'),
  ];
}

/** Any other order says what happens without a person; who that person would be is a question for the orders that ask. */
function electorateFaults({ effect, approval }: StandingOrderRule): Fault[] {
  const { quorum, approvers } = approval ?? {};
  const asks = effect === 'require_approval';
  const given = Object.entries({ quorum, approvers }).filter(([, one]) => one !== undefined && one !== null);
  if (!asks) {
    return given.map(([name]) =>
      fault(
        `approval.${name}`,
        'onlyWithEffect',
        `${name} is only for an order whose effect is require_approval`,
      ),
    );
  }
  if (!approvers || approvers.roles || approvers.memberIds) return [];
  return [fault('approval.approvers', 'namesSomebody', 'approvers must name roles or memberIds')];
}

function fault(path: string, rule: string, message: string): Fault {
  return { path, rule, message };
}
