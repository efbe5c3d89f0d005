import { canonicalDomain, type FieldCondition } from '../standing-orders/index.js';
import type { Breach, Rule } from './rule.js';
import {
  allows,
  irreversibleOf,
  irreversibleWork,
  listed,
  type SafetyTarget,
  some,
  typesOf,
} from './safety-target.js';

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
