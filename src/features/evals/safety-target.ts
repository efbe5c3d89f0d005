import type { Fault } from '../../platform/kernel/define-error.js';
import { ACTION_TYPES, ACTION_TYPE_NAMES, engineOf } from '../capos/index.js';
import { type StandingOrderRule, tightens } from '../standing-orders/index.js';
import { type Reversibility, isToolPattern } from '../terms/index.js';

/** An order as its safety is looked at. */
export interface AssessedOrder extends StandingOrderRule {
  standingOrderId: string;
  name: string;
  /** The registered tools that it names. */
  tools?: Readonly<Record<string, ActionFacts>>;
}

/** What the safety of an order depends on: the order itself, those it would stand beside, and what was spent so far. */
export interface SafetyTarget {
  order: AssessedOrder;
  /** The active orders of the workspace and of the order's own team, without the order itself. */
  others: readonly AssessedOrder[];
  /**
   * By currency, the most that went out within one window of the order's budget, in the time that uses are kept. A
   * currency in which nothing went out is missing.
   */
  spent: Readonly<Record<string, number>>;
  /** Why it could never match, as the validation of rules tells it; a stored order may be older than that. */
  faults: readonly Fault[];
  at: number;
}

/** What the registry says of an action type, as far as orders care. */
interface ActionFacts {
  /** Every class that its work packets may have. */
  classes: readonly Reversibility[];
  engines: readonly string[];
  /** Whether it names recipients, which `maxRecipients` counts. */
  reachesPeople: boolean;
  /** Whether it carries an amount, which limits and budgets add up. */
  carriesAmount: boolean;
}

const ACTION_FACTS: Readonly<Record<string, ActionFacts>> = Object.fromEntries(
  ACTION_TYPE_NAMES.map((type) => {
    const { classes, engines, params } = ACTION_TYPES[type];
    const names = Object.keys(params.shape);
    return [
      type,
      {
        classes,
        engines,
        reachesPeople: names.includes('to'),
        carriesAmount: names.includes('amount'),
      },
    ];
  }),
);

/** A type that the registry does not know may be anything. */
const UNKNOWN: ActionFacts = {
  classes: ['irreversible'],
  engines: [],
  reachesPeople: true,
  carriesAmount: true,
};

/** The action types that an order can match, each with what its work packets are that it matches. */
export function typesOf({
  capos,
  match,
  tools = {},
}: Pick<AssessedOrder, 'capos' | 'match' | 'tools'>): Map<string, ActionFacts> {
  const engines = capos?.map(engineOf) as string[] | undefined;
  const named = match.actionTypes ?? Object.keys(ACTION_FACTS);
  return new Map(
    named.flatMap((type) => {
      const known = Object.hasOwn(ACTION_FACTS, type) ? ACTION_FACTS : tools;
      const facts = Object.hasOwn(known, type) ? known[type]! : UNKNOWN;
      const isMade = facts === UNKNOWN || !engines || facts.engines.some((one) => engines.includes(one));
      const classes = facts.classes.filter((each) => facts === UNKNOWN || isAskedFor(match, each));
      // What only reads moves no money, whatever its parameters say.
      const carriesAmount = facts.carriesAmount && classes.some((each) => each !== 'read_only');
      return isMade && classes.length > 0 ? [[type, { ...facts, classes, carriesAmount }] as const] : [];
    }),
  );
}

function isAskedFor({ reversibility }: AssessedOrder['match'], each: Reversibility): boolean {
  return !reversibility || reversibility.includes(each);
}

export function allows(order: AssessedOrder): boolean {
  return !tightens(order);
}

/** "work packets that cannot be undone (email.send)" */
export function irreversibleWork({ match }: AssessedOrder, types: readonly string[]): string {
  const isAboutTools = match.actionTypes?.every(isToolPattern);
  return isAboutTools
    ? `requests for ${listed(types)} that cannot be undone`
    : `work packets that cannot be undone (${listed(types)})`;
}

/** The types of these that cannot be undone. */
export function irreversibleOf(order: AssessedOrder): string[] {
  return [...typesOf(order)]
    .filter(([, { classes }]) => classes.includes('irreversible'))
    .map(([type]) => type);
}

export function some(order: AssessedOrder, what: 'reachesPeople' | 'carriesAmount'): boolean {
  return [...typesOf(order).values()].some((facts) => facts[what]);
}

/** Null and left out mean the same in a rule. */
export function isSet<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

/** "email.send and webhook.post" */
export function listed(names: readonly string[]): string {
  const shown = names.length > 5 ? [...names.slice(0, 5), `${names.length - 5} more`] : names;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}
