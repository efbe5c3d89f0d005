import { EFFECTS, type Order } from './order.js';

/** The rule of an order: what decides, without the words of its author. */
type Rule = Omit<Order, 'name' | 'text' | 'draft'>;
type Words<Part> = { [Field in keyof Required<Part>]: (value: NonNullable<Part[Field]>) => string };
export interface RuleLine {
  name: string;
  words: string;
  /** False for what holds because nothing is said. */
  isGiven: boolean;
  /** Why no order can be kept with it. */
  fault?: string;
}

/** The names behind ids; an id that is not in it is shown as it is. */
export type Names = Readonly<Record<string, string>>;

const UNSTATED = ['name', 'text', 'draft', 'key'];

const OPERATORS: Record<string, (operand: unknown) => string> = {
  $eq: (value) => `is ${quoted(value)}`,
  $ne: (value) => `is not ${quoted(value)}`,
  $lt: (value) => `is below ${quoted(value)}`,
  $lte: (value) => `is at most ${quoted(value)}`,
  $gt: (value) => `is above ${quoted(value)}`,
  $gte: (value) => `is at least ${quoted(value)}`,
  $in: (values) => `is one of ${listed(values, quoted)}`,
  $nin: (values) => `is none of ${listed(values, quoted)}`,
  $exists: (value) => (value === true ? 'is given' : value === false ? 'is not given' : quoted(value)),
  $prefix: (value) => `begins with ${quoted(value)}`,
  $suffix: (value) => `ends with ${quoted(value)}`,
  $domainIn: (domains) => `is at ${listed(domains, plain, ' or ')}`,
};

/** What every work packet has, whatever its action calls it. */
const COMMON_FIELDS: Record<string, string> = {
  target: 'Recipient',
  recipients: 'Number of recipients',
  amount: 'Amount',
  currency: 'Currency',
  engine: 'Engine',
  'params.subject': 'Subject',
};

const BEYOND: Record<string, string> = {
  throttle: 'waits',
  require_approval: 'asks a person',
  deny: 'is denied',
};

const REVERSIBILITIES: Record<string, string> = {
  read_only: 'what changes nothing',
  reversible: 'what can be taken back',
  externally_reversible: 'what the system it goes to can take back',
  irreversible: 'what cannot be taken back',
};
const REVERSIBILITY = (value: unknown) => REVERSIBILITIES[plain(value)] ?? plain(value);

const LIMITS: Words<NonNullable<Rule['limits']>> = {
  maxPerHour: (most) => `${plain(most)} an hour`,
  maxPerDay: (most) => `${plain(most)} a day`,
  maxRecipients: (most) => `${plain(most)} ${most === 1 ? 'recipient' : 'recipients'} of each`,
  maxAmountPerDay: (most) => `amounts of ${plain(most)} a day, for each currency by itself`,
};

const WHEN: Words<NonNullable<Rule['when']>> = {
  presence: (presences) => `while the operator is ${listed(presences, plain, ' or ')}`,
  days: (days) => `on ${listed(days)}`,
  from: (time) => `from ${plain(time)}`,
  to: (time) => `to ${plain(time)}`,
  timezone: (zone) => `by the clock of ${plain(zone)}`,
};

const BUDGET: Words<NonNullable<Rule['budget']>> = {
  amount: (amount) => `at most ${plain(amount)}`,
  currency: plain,
  window: (window) => `a ${plain(window)}`,
  onExceed: (effect) => `(what goes beyond ${BEYOND[effect] ?? plain(effect)})`,
  warnPercent: (share) => `(decisions mention it from ${plain(share)} % on)`,
};

function approvalWords(names: Names): Words<NonNullable<Rule['approval']>> {
  const approvers: Words<NonNullable<NonNullable<Rule['approval']>['approvers']>> = {
    roles: (roles) => `members with the role ${listed(roles, plain, ' or ')} or a higher one`,
    memberIds: (ids) => listed(ids, (id) => names[plain(id)] ?? plain(id), ' or '),
  };
  return {
    quorum: (people) => `${plain(people)} people have to approve`,
    approvers: (who) => `only by ${partsIn(who, approvers).join(', or ')}`,
    selfApproval: (may) =>
      may ? 'also by the person who asked for it' : 'not by the person who asked for it',
    expiresInMinutes: (minutes) => `within ${plain(minutes)} minutes`,
    onExpiry: (act) =>
      `then ${act === 'reject' ? 'it is rejected' : act === 'escalate' ? 'it is escalated' : plain(act)}`,
  };
}

/**
 * The rule of an order in plain words, made from its fields alone. A part that is left out says what that means, since what is not
 * narrowed is wide. A field that this version does not know is shown as JSON, so nothing of a rule is hidden.
 */
export function ruleIn(order: Partial<Order>, names: Names = {}): RuleLine[] {
  const { effect, teamId, capos, match, when, limits, budget, approval, expiresAt, ...others } = order;
  const { actionTypes, agents, reversibility, priorities, fields, ...otherMatch } = recordOf(match);
  const isPaced = effect === 'allow' || effect === 'throttle';
  const conditions = Object.entries(recordOf(fields)).map(([path, condition]) => ({
    ...line(
      Object.hasOwn(COMMON_FIELDS, path) ? COMMON_FIELDS[path]! : path,
      `only where it ${partsIn(condition, OPERATORS).join(', and ')}`,
    ),
    fault: unknownOperators(condition),
  }));
  const given = (name: string, value: unknown, words: () => string, otherwise?: string): RuleLine[] =>
    isGiven(value)
      ? [line(name, words())]
      : otherwise === undefined
        ? []
        : [{ name, words: otherwise, isGiven: false }];
  return [
    line('What it does', isGiven(effect) ? (EFFECTS[effect] ?? plain(effect)) : 'nothing'),
    ...given('For', teamId, () => `the team ${names[plain(teamId)] ?? plain(teamId)}`, 'the whole workspace'),
    ...given(
      'Capos',
      capos,
      () => `only ${listed(capos, (role) => names[plain(role)] ?? plain(role))}`,
      isGiven(agents) ? 'none, since it names agents' : 'all',
    ),
    ...given(
      'Agents',
      agents,
      () => `only ${listed(agents)}`,
      isGiven(capos)
        ? 'none, since it names capos'
        : isPaced && !isGiven(actionTypes)
          ? 'none, since it names no tool'
          : 'all: also programs from outside that ask for it',
    ),
    ...given(
      'Actions and tools',
      actionTypes,
      () => `only ${listed(actionTypes)}`,
      isPaced ? 'every action of a capo, no tool of an agent' : 'all',
    ),
    ...given('Reversibility', reversibility, () => `only ${listed(reversibility, REVERSIBILITY)}`),
    ...given('Priority of the directive', priorities, () => `only ${listed(priorities)}`),
    ...conditions,
    conditions.length === 0
      ? line('Conditions', 'none: any recipient, any amount, any content')
      : {
          name: 'With several recipients or other values',
          words:
            effect === 'allow' ? 'each has to meet the condition' : 'one that meets the condition is enough',
          isGiven: false,
        },
    ...unknownLines(otherMatch),
    ...given('When', when, () => partsIn(when, WHEN).join(' '), 'always'),
    ...given(
      'Limits',
      limits,
      () =>
        `at most ${partsIn(limits, LIMITS).join(', ')}; what goes beyond ${effect === 'throttle' ? 'waits' : 'asks a person'}`,
      isPaced ? 'none: as many as there are' : undefined,
    ),
    ...given(
      'Budget',
      budget,
      () => partsIn(budget, BUDGET).join(' '),
      isPaced ? 'none: any amount may be spent' : undefined,
    ),
    ...given(
      'Approval',
      approval,
      () => partsIn(approval, approvalWords(names)).join(', '),
      effect === 'require_approval' ? 'by one person who may approve' : undefined,
    ),
    ...given('Ends', expiresAt, () => momentOf(expiresAt), 'never'),
    ...unknownLines(others),
  ];
}

function line(name: string, words: string): RuleLine {
  return { name, words, isGiven: true };
}

function unknownLines(others: object): RuleLine[] {
  return Object.entries(others)
    .filter(([name, value]) => !UNSTATED.includes(name) && isGiven(value))
    .map(([name, value]) => line(name, JSON.stringify(value)));
}

function unknownOperators(condition: unknown): string | undefined {
  const unknown = Object.keys(recordOf(condition)).filter((name) => !Object.hasOwn(OPERATORS, name));
  if (unknown.length === 0) return undefined;
  return `There is no operator ${unknown.join(', ')}: an order with it cannot be kept. There are ${Object.keys(OPERATORS).join(' ')}.`;
}

/** The fields of a part in the order of their words; what has no words as JSON. */
function partsIn(part: unknown, words: object): string[] {
  const fields = recordOf(part);
  const known = Object.entries(words as Record<string, (value: unknown) => string>);
  return [
    ...known.flatMap(([name, inWords]) => (isGiven(fields[name]) ? [inWords(fields[name])] : [])),
    ...Object.entries(fields).flatMap(([name, value]) =>
      Object.hasOwn(words, name) || !isGiven(value) ? [] : [`${name} ${JSON.stringify(value)}`],
    ),
  ];
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

/** The file of a pack is read before anybody has checked it: any part may be of any kind. */
function recordOf(value: unknown): Record<string, unknown> {
  if (!isGiven(value)) return {};
  return typeof value === 'object' ? (value as Record<string, unknown>) : { 'cannot be read:': value };
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A text in quotes, so that its own words cannot pass for those of the rule. */
function quoted(value: unknown): string {
  return JSON.stringify(value);
}

function listed(values: unknown, inWords: (value: unknown) => string = plain, between = ', '): string {
  return Array.isArray(values) ? values.map(inWords).join(between) : plain(values);
}

function momentOf(at: unknown): string {
  const date = new Date(at as number);
  return Number.isNaN(date.getTime())
    ? plain(at)
    : new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' }).format(date);
}
