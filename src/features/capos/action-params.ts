import { z } from 'zod';
import { isCurrency } from '../../platform/kernel/currency.js';
import { foldedMailAddress, mailAddress } from '../../platform/kernel/mail-address.js';
import { NOT_BLANK } from '../../platform/kernel/plain-text.js';
import { CONTROL, CONTROL_IN_TEXT } from '../../platform/kernel/text.js';
import { SIGNAL_SEVERITIES, SIGNAL_TYPES } from '../records/signal-types.js';
import { CAPO_ROLES, PRIORITIES } from '../terms/terms.js';

export { isMailAddress } from '../../platform/kernel/mail-address.js';

/**
 * The parameters of each action type, strict and bounded. What passes here is shown to the approver in full and
 * executed as shown, so a value that a mail header, a ledger or a page would read differently is refused.
 */

export const LIMITS = {
  title: 200,
  document: 100_000,
  mail: 50_000,
  signal: 10_000,
  directive: 8_000,
  source: 200,
  description: 2_000,
  recipients: 100,
  amount: 1_000_000_000_000,
  /** Bytes of JSON that are posted to a webhook, or that an operation is called with. */
  json: 50_000,
} as const;

/** Levels of what is posted or called with. */
const MAX_DEPTH = 8;

const atMost = (max: number, what: string) => ({
  error: `must have at most ${max.toLocaleString('en')} ${what}`,
});

const line = (max: number) =>
  z
    .string()
    .max(max, atMost(max, 'characters'))
    .refine(...NOT_BLANK)
    .refine((text) => !CONTROL.test(text), { error: 'must be one line without control characters' })
    .refine((text) => text.isWellFormed(), { error: 'must be well-formed Unicode' });

const text = (max: number) =>
  z
    .string()
    .max(max, atMost(max, 'characters'))
    .refine(...NOT_BLANK)
    .refine((value) => !CONTROL_IN_TEXT.test(value), { error: 'must not contain control characters' })
    .refine((value) => value.isWellFormed(), { error: 'must be well-formed Unicode' });

const addresses = (min: number) =>
  z
    .array(mailAddress)
    .min(min, { error: 'must name at least one address' })
    .max(LIMITS.recipients, atMost(LIMITS.recipients, 'addresses'))
    .refine((list) => new Set(list.map(foldedMailAddress)).size === list.length, {
      error: 'must not name an address twice',
    });

/** Four decimals cover every ISO 4217 currency; more would be rounded behind the approver's back. */
const amount = z
  .number()
  .positive()
  .max(LIMITS.amount)
  .refine((value) => Number(value.toFixed(4)) === value, { error: 'must have at most four decimals' });

/** JSON that the database and a receiver read alike. */
const jsonObject = z
  .record(z.string().regex(/^[^\p{Cc}]{1,200}$/u, 'must be 1 to 200 characters on one line'), z.unknown())
  .refine((value) => isStorableJson(value, MAX_DEPTH), {
    error: `must be JSON of at most ${MAX_DEPTH} levels, without NUL or half characters`,
    abort: true,
  })
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= LIMITS.json, {
    error: `must have at most ${LIMITS.json} bytes`,
  });

function isStorableJson(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'boolean';
  if (value === null) return true;
  if (depth === 0) return false;
  return Object.entries(value).every(
    ([key, each]) => isStorableJson(key, depth) && isStorableJson(each, depth - 1),
  );
}

export const DocumentFile = z.strictObject({ title: line(LIMITS.title), body: text(LIMITS.document) });

export const SignalRaise = z.strictObject({
  type: z.enum(SIGNAL_TYPES),
  severity: z.enum(SIGNAL_SEVERITIES),
  title: line(LIMITS.title),
  body: text(LIMITS.signal),
  score: z.number().min(0).max(1).optional(),
});

export const EmailSend = z.strictObject({
  to: addresses(1),
  cc: addresses(0).optional(),
  subject: line(LIMITS.title),
  body: text(LIMITS.mail),
  /** Where answers go. Set by us from the settings of the workspace (`withReplyTo`) or by a person, never by a runner. */
  replyTo: mailAddress.optional(),
});

export const RevenueRecord = z.strictObject({
  amount,
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be three capital letters')
    .refine(isCurrency, { error: 'must be a currency of ISO 4217' }),
  source: line(LIMITS.source),
  description: text(LIMITS.description).optional(),
});

/** `ceo` is left out: a capo that could hand work to itself could loop without anybody being asked. */
export const DirectiveCreate = z.strictObject({
  directive: text(LIMITS.directive),
  capo: z.enum(CAPO_ROLES).exclude(['ceo']),
  priority: z.enum(PRIORITIES).optional(),
});

export const WebhookPost = z.strictObject({
  destinationId: z.string().regex(/^whk_[0-9a-z]{26}$/, 'must be the id of a destination'),
  /** The destination in a person's words. Set by us, so that an approval is bound to it. */
  destination: line(LIMITS.title * 4).optional(),
  data: jsonObject,
});

const NAME = z.string().regex(/^[a-z][a-z0-9_-]{0,59}$/, 'must be the name of a connector or an operation');

export const HttpCall = z.strictObject({
  connector: NAME,
  operation: NAME,
  arguments: jsonObject,
  /** Method and address of the request. Set by us, as is all below it: an approval is bound to them. */
  request: z.string().max(9_000).optional(),
  /** The hash of what the operator's file says of the operation. */
  definition: z.string().max(64).optional(),
  /** The money that it moves, where the operation says which parameter that is. */
  amount: z.number().optional(),
  currency: z.string().max(3).optional(),
});
