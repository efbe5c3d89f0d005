import { z } from 'zod';
import { defineError, type DomainError } from '../../platform/kernel/define-error.js';
import { text } from '../../platform/kernel/error-details.js';

/**
 * The words that every feature shares.
 * @level 1
 */

export const CAPO_ROLES = ['capo_marketing', 'capo_revenue', 'capo_ops', 'capo_product', 'ceo'] as const;
export type CapoRole = (typeof CAPO_ROLES)[number];

export const PRIORITIES = ['high', 'medium', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** How far a work packet can be undone, from harmless to final; it comes from the registry of action types, never from a model. */
export const REVERSIBILITIES = ['read_only', 'reversible', 'externally_reversible', 'irreversible'] as const;
export type Reversibility = (typeof REVERSIBILITIES)[number];

export const GUARDIAN_MODES = [
  'observe',
  'supervised',
  'guardrailed',
  'autonomous',
  'killed',
  'recovering',
] as const;
export type GuardianMode = (typeof GUARDIAN_MODES)[number];

export const RISKS = ['low', 'medium', 'high', 'critical'] as const;
export type Risk = (typeof RISKS)[number];

export const DIRECTIVE_STATUSES = [
  'pending_approval',
  'queued',
  'executing',
  'sending',
  'executed',
  'failed',
  'rejected',
  'expired',
  'cancelled',
  'halted',
  'reverted',
] as const;
export type DirectiveStatus = (typeof DIRECTIVE_STATUSES)[number];

/** Money spent on models, with what was read and written for it. */
export interface Cost {
  amount: number;
  currency: string;
  tokensIn: number;
  tokensOut: number;
}

/**
 * What models cost is told in US dollars, in which their prices are set, whatever the currency of the workspace; it is never
 * added to an amount in another.
 */
export const COST_CURRENCY = 'USD';

export const NO_COST: Readonly<Cost> = Object.freeze({
  amount: 0,
  currency: COST_CURRENCY,
  tokensIn: 0,
  tokensOut: 0,
});

/** How long an approval, and each link to it in a mail, can be decided, unless an order or the request says otherwise (CONTRACT, Approval). */
export const APPROVAL_LASTS_MS = 72 * 3_600_000;

/**
 * The work that tells members of something: its item has the id of an approval, an escalation or a directive that failed, or of
 * the receipt of a kill or of its end. Every feature enqueues it in the transaction of its act.
 */
export const TELL_MEMBERS = 'notification.plan';

/** What every feature answers that would let something leave while nothing may. */
export const GuardianHalted = defineError(
  'GUARDIAN_HALTED',
  423,
  'The kill switch is engaged; nothing is sent until an admin reverts it.',
  { details: z.object({ mode: text("The guardian's mode.", 'killed') }).optional() },
);

/** The same for a mode that is known, in the words of that mode. */
export function haltedIn(mode: GuardianMode): DomainError {
  const message = MESSAGES[mode];
  return new GuardianHalted({ ...(message && { message }), details: { mode } });
}

const MESSAGES: Partial<Record<GuardianMode, string>> = {
  observe: 'The guardian only observes; nothing is sent until an admin sets another mode.',
  recovering: 'A kill is being reverted; nothing is sent until that is done.',
};
