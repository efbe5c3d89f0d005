import type { Fault } from '../../platform/kernel/define-error.js';
import { ACTION_TYPE_NAMES, ACTION_TYPES, engineOf } from '../capos/index.js';
import {
  canonicalDomain,
  type FieldCondition,
  type StandingOrderRule,
  tightens,
} from '../standing-orders/index.js';
import { isToolPattern, type Reversibility } from '../terms/index.js';
import type { Breach, Rule } from './rule.js';

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
function irreversibleWork({ match }: AssessedOrder, types: readonly string[]): string {
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

/** Providers at which anybody opens a mailbox. */
const MAIL_PROVIDERS = new Set(
  `126.com 163.com aol.com duck.com fastmail.com free.fr freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net
  googlemail.com hey.com hotmail.co.uk hotmail.com hotmail.de hotmail.fr icloud.com inbox.lv laposte.net libero.it
  live.co.uk live.com live.de live.fr mac.com mail.com mail.ru mailbox.org me.com msn.com naver.com orange.fr outlook.com
  outlook.de outlook.es outlook.fr posteo.de proton.me protonmail.com qq.com rocketmail.com seznam.cz sfr.fr t-online.de
  tuta.com tutanota.com virgilio.it wanadoo.fr web.de wp.pl yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com
  yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it yandex.com yandex.ru ymail.com zoho.com`.split(/\s+/),
);

/**
 * Second levels at which registries register third ones, such as `co.uk`. Of these no list is complete; an order that
 * names one is a mistake and no attack, since only an admin writes orders that allow.
 */
const SECOND_LEVELS = /^(?:ac|co|com|edu|gob|gov|gv|ltd|me|net|ne|nom|or|org|plc)\.[a-z]{2}$/;

/** Whether anybody can have an address at this domain, or a domain below it. */
function isSharedDomain(domain: string): boolean {
  const name = canonicalDomain(domain) ?? '';
  return MAIL_PROVIDERS.has(name) || SECOND_LEVELS.test(name);
}

/** More than so many domains are no circle of known receivers any more. */
const MANY_DOMAINS = 20;

/** How far an order reaches that lets work packets go without anybody looking. */
export const BLAST_RADIUS_RULES: readonly Rule<SafetyTarget>[] = [
  {
    id: 'order.every_action',
    severity: 'critical',
    reason:
      'An order that names no action types also allows those that cannot be undone, and those that a later version adds.',
    suggestion: 'Name the action types in `match.actionTypes`.',
    check: ({ order }) => {
      if (!allows(order) || order.match.actionTypes || irreversibleOf(order).length === 0) return [];
      const message = `It allows every action type, ${listed(irreversibleOf(order))} included.`;
      return [{ path: 'match.actionTypes', message, evidence: [...typesOf(order).keys()] }];
    },
  },
  {
    id: 'order.every_action_of_a_class',
    severity: 'warning',
    reason:
      'An order for a whole class of reversibility also allows the action types that a later version adds to it.',
    suggestion: 'Name the action types in `match.actionTypes`, beside the class or instead of it.',
    check: ({ order }) => {
      if (!allows(order) || order.match.actionTypes || irreversibleOf(order).length > 0) return [];
      const message = 'It allows every action type of its class.';
      return [{ path: 'match.actionTypes', message, evidence: [...typesOf(order).keys()] }];
    },
  },
  {
    id: 'order.every_capo',
    severity: 'info',
    reason: 'Each capo acts for its own reasons, so a permission should name its capo.',
    suggestion: 'Name the capos that need it in `capos`.',
    check: ({ order }) => {
      const engines = new Set([...typesOf(order).values()].flatMap((facts) => facts.engines));
      if (!allows(order) || order.capos || engines.size < 2) return [];
      return [{ path: 'capos', message: `It allows this to ${engines.size} capos.`, evidence: [...engines] }];
    },
  },
  {
    id: 'order.unlimited_irreversible',
    severity: 'critical',
    reason:
      'Without a limit on their number, one wrong rule or one bad draft is repeated until somebody notices.',
    suggestion: 'Set `limits.maxPerHour` or `limits.maxPerDay`.',
    check: ({ order }) => {
      const { limits, budget } = order;
      const irreversible = irreversibleOf(order);
      const isPaced = limits?.maxPerHour || limits?.maxPerDay || (budget && everyOneCarriesAmount(order));
      if (!allows(order) || irreversible.length === 0 || isPaced) return [];
      const message = `It allows any number of ${irreversibleWork(order, irreversible)}.`;
      return [{ path: 'limits', message, evidence: limits }];
    },
  },
  {
    id: 'order.any_recipient',
    severity: 'warning',
    reason: 'A work packet may then reach people whom nobody has named.',
    suggestion: 'Add a condition such as `"params.to": { "$domainIn": ["example.com"] }`.',
    check: ({ order }) => {
      if (!allows(order) || !some(order, 'reachesPeople') || recipientConditions(order).length > 0) return [];
      return [{ path: 'match.fields', message: 'It has no condition on who is reached.' }];
    },
  },
  {
    id: 'order.recipients_by_exclusion',
    severity: 'warning',
    reason: 'A condition that only excludes lets everybody else be reached, strangers included.',
    suggestion: 'Say who may be reached, with `$domainIn`, `$in` or `$eq`, beside whom may not.',
    check: ({ order }) => {
      const conditions = recipientConditions(order);
      const isNarrowed = conditions.some(([, condition]) => narrows(condition));
      if (!allows(order) || !some(order, 'reachesPeople') || conditions.length === 0 || isNarrowed) return [];
      return conditions.map(([path, condition]) => ({
        path: `match.fields.${path}`,
        message: 'It only says who is not reached, or how an address begins.',
        evidence: condition,
      }));
    },
  },
  {
    id: 'order.wide_domain',
    severity: 'warning',
    reason: 'At a public mail provider or below a public suffix anybody can have an address.',
    suggestion: 'Name the domains of the people or companies that are meant, or their addresses with `$in`.',
    check: ({ order }) => (allows(order) ? domainBreaches(order.match.fields ?? {}) : []),
  },
  {
    id: 'order.no_expiry',
    severity: 'info',
    reason: 'Nobody looks again at an order that never ends.',
    suggestion: 'Set `expiresAt`; a new version renews it.',
    check: ({ order }) =>
      allows(order) && order.expiresAt === null && irreversibleOf(order).length === 0
        ? [{ path: 'expiresAt', message: 'It never expires.' }]
        : [],
  },
  {
    id: 'order.no_expiry_irreversible',
    severity: 'warning',
    reason: 'Nobody looks again at an order that never ends, while what it lets go cannot be taken back.',
    suggestion: 'Set `expiresAt`; a new version renews it.',
    check: ({ order }) =>
      allows(order) && order.expiresAt === null && irreversibleOf(order).length > 0
        ? [{ path: 'expiresAt', message: 'It never expires, and allows what cannot be undone.' }]
        : [],
  },
];

type Order = SafetyTarget['order'];

function everyOneCarriesAmount(order: Order): boolean {
  const facts = [...typesOf(order).values()].filter(({ classes }) => classes.includes('irreversible'));
  return facts.length > 0 && facts.every(({ carriesAmount }) => carriesAmount);
}

/** The fields that say whom a work packet reaches. */
function recipientConditions({ match }: Order): [path: string, condition: FieldCondition][] {
  return Object.entries(match.fields ?? {}).filter(
    ([path]) => path === 'target' || /^params\.to(\.|$)/.test(path),
  );
}

function narrows({ $eq, $in, $domainIn }: FieldCondition): boolean {
  return $eq !== undefined || $in !== undefined || $domainIn !== undefined;
}

function domainBreaches(fields: Readonly<Record<string, FieldCondition>>): Breach[] {
  return Object.entries(fields).flatMap(([path, { $domainIn = [] }]) => {
    const at = `match.fields.${path}.$domainIn`;
    const shared = $domainIn.filter(isSharedDomain);
    return [
      ...(shared.length > 0
        ? [{ path: at, message: `Anybody can have an address at ${listed(shared)}.`, evidence: shared }]
        : []),
      ...($domainIn.length > MANY_DOMAINS
        ? [{ path: at, message: `It names ${$domainIn.length} domains.`, evidence: $domainIn.length }]
        : []),
    ];
  });
}
