import type { AssessedOrder, SafetyTarget } from '../../src/features/evals/safety-blast-radius.js';

const NOW = Date.UTC(2026, 6, 1, 12);
const DAY_MS = 86_400_000;

type Given = Partial<Omit<SafetyTarget, 'order'>>;

/** Mail of one capo to one company, so many, for a month: nothing is found in it. */
export const SAFE: AssessedOrder = {
  standingOrderId: 'so_1',
  name: 'Delivery mail to Acme',
  teamId: null,
  capos: ['capo_ops'],
  effect: 'allow',
  match: { actionTypes: ['email.send'], fields: { 'params.to': { $domainIn: ['acme.example'] } } },
  when: null,
  limits: { maxPerHour: 5, maxPerDay: 20, maxRecipients: 3 },
  budget: null,
  approval: null,
  expiresAt: NOW + 30 * DAY_MS,
};

/** Revenue that is recorded up to a sum. */
const LEDGER: AssessedOrder = {
  ...SAFE,
  standingOrderId: 'so_2',
  name: 'Record sales',
  capos: null,
  match: { actionTypes: ['revenue.record'] },
  limits: null,
  budget: { window: 'week', amount: 500, currency: 'EUR', warnPercent: 80, onExceed: 'require_approval' },
};

const PACE: AssessedOrder = {
  ...SAFE,
  standingOrderId: 'so_3',
  name: 'Not too fast',
  effect: 'throttle',
  match: { actionTypes: ['email.send'] },
  limits: { maxPerHour: 10 },
};

export function target(order: Partial<AssessedOrder> = {}, given: Given = {}, base = SAFE): SafetyTarget {
  return { order: { ...base, ...order }, others: [], spent: {}, faults: [], at: NOW, ...given };
}

const ledger = (order: Partial<AssessedOrder> = {}, given: Given = {}) => target(order, given, LEDGER);
const pace = (order: Partial<AssessedOrder> = {}, given: Given = {}) => target(order, given, PACE);
const other = (order: Partial<AssessedOrder>): AssessedOrder => ({
  ...SAFE,
  standingOrderId: 'so_9',
  name: 'Another',
  limits: null,
  expiresAt: null,
  ...order,
});
const DENY_MAIL = other({ effect: 'deny', capos: null, match: { actionTypes: ['email.send'] } });
const document = { match: { actionTypes: ['document.file'] }, limits: null };

/** For each rule, targets in which it finds something and no other rule does, and near misses in which nothing is found. */
export interface Cases<Target> {
  found: Record<string, Target>;
  missed: Record<string, Target>;
}

export const ORDERS: Record<string, Cases<SafetyTarget>> = {
  'order.every_action': {
    found: {
      'no action types, with mail among them': target({
        match: { fields: SAFE.match.fields! },
        limits: { ...SAFE.limits, maxAmountPerDay: 100 },
      }),
    },
    missed: {
      'a capo that can do nothing final, by its class': target({ effect: 'deny', match: {}, limits: null }),
    },
  },
  'order.every_action_of_a_class': {
    found: {
      'what can be undone, whatever it is': target({
        match: { reversibility: ['reversible'] },
        limits: null,
      }),
    },
    missed: {
      'calls that only read': target({
        capos: null,
        match: { actionTypes: ['http.call'], reversibility: ['read_only'] },
        limits: null,
      }),
      'the class beside the types': target({
        match: { actionTypes: ['document.file'], reversibility: ['reversible'] },
        limits: null,
      }),
    },
  },
  'order.every_capo': {
    found: { 'mail of three capos': target({ capos: null }) },
    missed: { 'what only one capo can do': ledger() },
  },
  'order.unlimited_irreversible': {
    found: { 'no limit on the number': target({ limits: { maxRecipients: 3 } }) },
    missed: { 'so many a day': target({ limits: { maxPerDay: 20, maxRecipients: 3 } }) },
  },
  'order.any_recipient': {
    found: {
      'no condition': target({ match: { actionTypes: ['email.send'] } }),
      'a condition on the subject alone': target({
        match: { actionTypes: ['email.send'], fields: { 'params.subject': { $prefix: 'Delivery' } } },
      }),
    },
    missed: {
      'one address': target({
        match: { actionTypes: ['email.send'], fields: { target: { $eq: 'jane@acme.example' } } },
      }),
    },
  },
  'order.recipients_by_exclusion': {
    found: {
      'everybody but one': target({
        match: { actionTypes: ['email.send'], fields: { 'params.to': { $nin: ['joe@acme.example'] } } },
      }),
      'the beginning of an address': target({
        match: { actionTypes: ['email.send'], fields: { 'params.to': { $prefix: 'a' } } },
      }),
    },
    missed: {
      'a company without one of its people': target({
        match: {
          actionTypes: ['email.send'],
          fields: { 'params.to': { $domainIn: ['acme.example'], $ne: 'joe@acme.example' } },
        },
      }),
    },
  },
  'order.wide_domain': {
    found: {
      'a provider of mailboxes': target({
        match: { actionTypes: ['email.send'], fields: { 'params.to': { $domainIn: ['GMail.com.'] } } },
      }),
      'a public suffix': target({
        match: { actionTypes: ['email.send'], fields: { 'params.to': { $domainIn: ['co.uk'] } } },
      }),
      'more domains than anybody knows': target({
        match: {
          actionTypes: ['email.send'],
          fields: { 'params.to': { $domainIn: Array.from({ length: 21 }, (_, n) => `acme${n}.example`) } },
        },
      }),
    },
    missed: {
      'domains that only look like a provider or a suffix': target({
        match: {
          actionTypes: ['email.send'],
          fields: { 'params.to': { $domainIn: ['notgmail.com', 'acme.co.uk', 'bücher.de'] } },
        },
      }),
    },
  },
  'order.no_expiry': {
    found: { 'documents for ever': target({ ...document, expiresAt: null }) },
    missed: { 'a denial for ever': target({ effect: 'deny', limits: null, expiresAt: null }) },
  },
  'order.no_expiry_irreversible': {
    found: { 'mail for ever': target({ expiresAt: null }) },
    missed: { 'mail for a month': target() },
  },
  'order.large_audience': {
    found: {
      'no limit on recipients': target({ limits: { maxPerHour: 5 } }),
      'a limit that is too high': target({ limits: { maxPerHour: 5, maxRecipients: 51 } }),
    },
    missed: {
      'the most that is no large audience': target({ limits: { maxPerHour: 5, maxRecipients: 50 } }),
    },
  },
  'order.unbounded_amount': {
    found: {
      'no bound': ledger({ budget: null }),
      'a lower bound alone': ledger({
        budget: null,
        match: { actionTypes: ['revenue.record'], fields: { 'params.amount': { $gte: 5 } } },
      }),
    },
    missed: {
      'a condition on the amount': ledger({
        budget: null,
        match: { actionTypes: ['revenue.record'], fields: { amount: { $lte: 500 } } },
      }),
      'a limit of the day': ledger({ budget: null, limits: { maxAmountPerDay: 500 } }),
    },
  },
  'order.self_approval': {
    found: {
      'an order that asks': target({ effect: 'require_approval', limits: null }),
      'terms that say nothing of it': target({ approval: { expiresInMinutes: 60 } }),
    },
    missed: {
      'another member approves': target({
        effect: 'require_approval',
        limits: null,
        approval: { selfApproval: false },
      }),
      'two people approve': target({ effect: 'require_approval', limits: null, approval: { quorum: 2 } }),
      'what can be undone': target({ effect: 'require_approval', ...document }),
    },
  },
  'order.stale_approval': {
    found: {
      'a week and a minute': target({ approval: { selfApproval: false, expiresInMinutes: 7 * 1_440 + 1 } }),
    },
    missed: { 'a week': target({ approval: { selfApproval: false, expiresInMinutes: 7 * 1_440 } }) },
  },
  'order.budget_without_hard_stop': {
    found: { 'a budget that delays': ledger({ budget: { ...LEDGER.budget!, onExceed: 'throttle' } }) },
    missed: {
      'a budget that asks unless said otherwise': ledger({ budget: { ...LEDGER.budget!, onExceed: null } }),
    },
  },
  'order.budget_without_warning': {
    found: { 'no share at which it warns': ledger({ budget: { ...LEDGER.budget!, warnPercent: null } }) },
    missed: { 'a warning at the end': ledger({ budget: { ...LEDGER.budget!, warnPercent: 100 } }) },
  },
  'order.runaway_budget': {
    found: { 'more than ten times what was ever spent': ledger({}, { spent: { EUR: 49.99 } }) },
    missed: {
      'ten times what was spent': ledger({}, { spent: { EUR: 50 } }),
      'nothing to go by': ledger(),
      'what was spent in another currency': ledger({}, { spent: { USD: 1 } }),
    },
  },
  'order.budget_never_binds': {
    found: {
      'mail that costs nothing': target({ budget: LEDGER.budget }),
      'a limit of the day that is met first': ledger({
        limits: { maxAmountPerDay: 10 },
        budget: { ...LEDGER.budget!, amount: 70 },
      }),
    },
    missed: {
      'a budget below what the limit lets pass in a week': ledger({
        limits: { maxAmountPerDay: 10 },
        budget: { ...LEDGER.budget!, amount: 69 },
      }),
    },
  },
  'order.limit_never_binds': {
    found: {
      'an hour that is wider than the day': target({
        limits: { maxPerHour: 20, maxPerDay: 20, maxRecipients: 3 },
      }),
      'a day that is wider than its hours': target({
        limits: { maxPerHour: 5, maxPerDay: 120, maxRecipients: 3 },
      }),
      'recipients of documents': target({ ...document, limits: { maxRecipients: 3 } }),
      'an amount of documents': target({ ...document, limits: { maxAmountPerDay: 3 } }),
    },
    missed: {
      'a day that its hours can exceed': target({
        limits: { maxPerHour: 5, maxPerDay: 119, maxRecipients: 3 },
      }),
    },
  },
  'order.overridden': {
    found: {
      'a denial of all mail': target({}, { others: [DENY_MAIL] }),
      'an order that asks about it': target(
        {},
        { others: [other({ effect: 'require_approval', match: { actionTypes: ['email.send'] } })] },
      ),
    },
    missed: {
      'a denial for some recipients': target(
        {},
        {
          others: [
            {
              ...DENY_MAIL,
              match: { ...DENY_MAIL.match, fields: { 'params.to': { $domainIn: ['other.example'] } } },
            },
          ],
        },
      ),
      'a denial for another team': target({}, { others: [{ ...DENY_MAIL, teamId: 'team_a' }] }),
      'a denial that ends before': target({}, { others: [{ ...DENY_MAIL, expiresAt: NOW + DAY_MS }] }),
      'a denial while the operator is away': target(
        {},
        { others: [{ ...DENY_MAIL, when: { presence: ['away'] } }] },
      ),
    },
  },
  'order.overrides': {
    found: {
      'a denial above an order that allows': target(
        {
          effect: 'deny',
          capos: null,
          match: { actionTypes: ['email.send'] },
          limits: null,
          expiresAt: null,
        },
        { others: [other({ limits: SAFE.limits })] },
      ),
    },
    missed: {
      'a denial beside it': target(
        { effect: 'deny', match: { actionTypes: ['document.file'] }, limits: null, expiresAt: null },
        { others: [other({ limits: SAFE.limits })] },
      ),
    },
  },
  'order.duplicate': {
    found: {
      'the same in other words': target({}, { others: [{ ...SAFE, standingOrderId: 'so_9', name: 'Twin' }] }),
    },
    missed: {
      'another limit': target(
        {},
        { others: [{ ...SAFE, standingOrderId: 'so_9', limits: { ...SAFE.limits, maxPerDay: 21 } }] },
      ),
    },
  },
  'order.weaker_throttle': {
    found: {
      'a pace above another': pace(
        {},
        { others: [other({ ...PACE, standingOrderId: 'so_9', limits: { maxPerHour: 9 } })] },
      ),
    },
    missed: {
      'a pace below the other': pace(
        {},
        { others: [other({ ...PACE, standingOrderId: 'so_9', limits: { maxPerHour: 11 } })] },
      ),
      'a pace for fewer work packets': pace(
        {},
        {
          others: [
            other({
              ...PACE,
              standingOrderId: 'so_9',
              limits: { maxPerHour: 9 },
              match: SAFE.match,
            }),
          ],
        },
      ),
    },
  },
  'order.never_matches': {
    found: {
      'what the validation of rules says': target(
        {},
        {
          faults: [
            {
              path: 'match.fields.amount',
              rule: 'isSatisfiable',
              message: 'the condition contradicts itself',
            },
          ],
        },
      ),
    },
    missed: { 'an order that can match': target() },
  },
  'order.expired': {
    found: { 'the moment of its end': target({ expiresAt: NOW }) },
    missed: { 'a moment before': target({ expiresAt: NOW + 1 }) },
  },
};
