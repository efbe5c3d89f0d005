import { z } from 'zod';
import { NOT_BLANK } from '../../platform/kernel/plain-text.js';
import { CONTROL, CONTROL_IN_TEXT } from '../../platform/kernel/text.js';
import {
  BUDGET_WINDOWS,
  EFFECTS,
  type FieldCondition,
  ON_EXCEED,
  ON_EXPIRY,
  PRESENCES,
  WEEKDAYS,
} from '../standing-orders/standing-order.js';
import { CAPO_ROLES, PRIORITIES, REVERSIBILITIES } from '../terms/terms.js';

/**
 * The parameters of `standing_order.propose`: those of `POST /standing-orders`, with each condition as a record of its own, since
 * structured output knows no objects with keys of any name. What they mean, and whether an order with them could ever match, is
 * checked by the rules of orders when the draft is made (standing-orders/draft-standing-order.ts).
 */

const OPERATORS = {
  $eq: '$eq',
  $ne: '$ne',
  $lt: '$lt',
  $lte: '$lte',
  $gt: '$gt',
  $gte: '$gte',
  $in: '$in',
  $nin: '$nin',
  $exists: '$exists',
  $prefix: '$prefix',
  $suffix: '$suffix',
  $domainIn: '$domainIn',
} as const satisfies { [Operator in keyof FieldCondition]-?: Operator };

const line = (max: number) =>
  z
    .string()
    .max(max)
    .refine(...NOT_BLANK)
    .refine((text) => !CONTROL.test(text) && text.isWellFormed(), {
      error: 'must be one line without control characters',
    });
const paragraph = z
  .string()
  .max(4_000)
  .refine((text) => !CONTROL_IN_TEXT.test(text) && text.isWellFormed(), {
    error: 'must not contain control characters',
  });
const scalar = z.union([z.string().max(500), z.number(), z.boolean()]);
const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time from 00:00 to 23:59');
const several = <T extends string>(values: readonly T[]) => z.array(z.enum(values)).min(1).nullish();
const count = z.number().int().min(1).max(1_000_000).nullish();

const Condition = z.strictObject({
  path: z.string().max(200),
  operator: z.enum(OPERATORS),
  value: z.union([scalar, z.array(scalar).min(1).max(100)]),
});

export const StandingOrderPropose = z.strictObject({
  name: line(120),
  text: paragraph.nullish(),
  capos: several(CAPO_ROLES),
  effect: z.enum(EFFECTS),
  match: z.strictObject({
    actionTypes: z
      .array(z.string().regex(/^[a-z_]{1,40}\.[a-z_]{1,40}$/, 'must be an action type such as email.send'))
      .min(1)
      .max(50)
      .nullish(),
    reversibility: several(REVERSIBILITIES),
    priorities: several(PRIORITIES),
    conditions: z.array(Condition).min(1).max(20).nullish(),
  }),
  when: z
    .strictObject({
      presence: several(PRESENCES),
      days: several(WEEKDAYS),
      from: clockTime.nullish(),
      to: clockTime.nullish(),
      timezone: z.string().max(100).nullish(),
    })
    .nullish(),
  limits: z
    .strictObject({
      maxPerHour: count,
      maxPerDay: count,
      maxRecipients: count,
      maxAmountPerDay: z.number().min(0).max(1e12).nullish(),
    })
    .nullish(),
  budget: z
    .strictObject({
      window: z.enum(BUDGET_WINDOWS),
      amount: z.number().min(0.01).max(1e12),
      currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters'),
      warnPercent: z.number().int().min(1).max(100).nullish(),
      onExceed: z.enum(ON_EXCEED).nullish(),
    })
    .nullish(),
  approval: z
    .strictObject({
      expiresInMinutes: z
        .number()
        .int()
        .min(1)
        .max(30 * 24 * 60)
        .nullish(),
      onExpiry: z.enum(ON_EXPIRY).nullish(),
      selfApproval: z.boolean().nullish(),
    })
    .nullish(),
  expiresAt: z.number().int().positive().max(8.64e15).nullish(),
});

type ProposedOrder = z.infer<typeof StandingOrderPropose>;

/** The proposal as a body of `POST /standing-orders`. Of two conditions with one operator at one path the last counts. */
export function orderBodyOf({ match, ...rest }: ProposedOrder): object {
  const { conditions, ...narrowed } = match;
  const fields: Record<string, Record<string, unknown>> = {};
  for (const { path, operator, value } of conditions ?? []) {
    fields[path] = { ...(Object.hasOwn(fields, path) ? fields[path] : {}), [operator]: value };
  }
  return { ...rest, match: { ...narrowed, ...(conditions && { fields }) } };
}
