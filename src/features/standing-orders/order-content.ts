import { z } from 'zod';
import type { Actor } from '../../platform/auth/caller.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { defineError } from '../../platform/kernel/define-error.js';
import { count } from '../../platform/kernel/error-details.js';
import { ContentChanged, PreconditionRequired } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { type DecisionOrder, storableOrder } from './decision-input.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import type { StandingOrderRule, StandingOrderStatus } from './standing-order.js';

/** What a version of an order keeps: its rule, and what it is called. */
export interface OrderContent {
  name: string;
  text: string;
  rule: StandingOrderRule;
}

/** The columns of a rule, in the form in which they are stored. */
export type RuleColumns = Pick<
  StandingOrderEntity,
  'teamId' | 'capos' | 'effect' | 'match' | 'when' | 'limits' | 'budget' | 'approval' | 'expiresAt'
>;

export function ruleOf(order: RuleColumns): StandingOrderRule {
  const { teamId, capos, effect, match, when, limits, budget, approval, expiresAt } = order;
  return { teamId, capos, effect, match, when, limits, budget, approval, expiresAt };
}

/** The rule as the columns of an order take it, with the hash by which decisions name it. */
export function columnsOfRule(rule: StandingOrderRule): RuleColumns & Pick<StandingOrderEntity, 'hash'> {
  return { ...rule, capos: rule.capos && [...rule.capos], hash: sha256(canonicalJson(rule)) };
}

/** A draft in its first version. */
export function newOrder(
  { workspaceId, name, text, rule }: OrderContent & { workspaceId: string },
  by: Actor,
  at: number,
  heldBecause: string | null = null,
): StandingOrderEntity {
  return {
    ...columnsOfRule(rule),
    standingOrderId: newId('so'),
    workspaceId,
    name,
    text,
    status: 'draft',
    version: 1,
    heldBecause,
    simulation: null,
    evalRunId: null,
    createdBy: by,
    createdAt: at,
    updatedAt: at,
    activatedAt: null,
  };
}

/** The order as decisions would take it if it had this status. */
export function decisionOrderOf(
  order: RuleColumns & Pick<StandingOrderEntity, 'standingOrderId' | 'version' | 'hash' | 'name'>,
  status: StandingOrderStatus,
): DecisionOrder {
  const { standingOrderId, version, hash, name } = order;
  return storableOrder({ standingOrderId, version, hash, name, status, ...ruleOf(order) });
}

export const VersionChanged = defineError(
  'VERSION_CHANGED',
  412,
  'The standing order has a newer version. Read it and its simulation, and name that version.',
  { details: z.object({ version: count('The version now.', 3) }) },
);

/** Which version of an order somebody had before them when they asked for something. */
export interface VersionRead {
  /** `version` of the body. */
  version: number | null | undefined;
  /** The hash that `If-Match` names. */
  hash: string | null;
}

/** For an acknowledgement that names nothing. */
const NOT_NAMED =
  'An acknowledgement holds for what was read: name the version in `version`, or the hash of the order in If-Match.';

/**
 * An owner acknowledges the version that they read, even if somebody has changed the order since.
 * @throws VersionChanged, ContentChanged, or PreconditionRequired for an acknowledgement that names nothing
 */
export function requireVersionRead(
  order: Pick<StandingOrderEntity, 'version' | 'hash'>,
  { version = null, hash }: VersionRead,
  acknowledged: boolean,
): void {
  if (acknowledged && version === null && hash === null)
    throw new PreconditionRequired({ message: NOT_NAMED });
  if (version !== null && version !== order.version) {
    throw new VersionChanged({ details: { version: order.version } });
  }
  requireHash(order, hash);
}

/** @throws ContentChanged */
export function requireHash(order: Pick<StandingOrderEntity, 'version' | 'hash'>, hash: string | null): void {
  if (hash === null || hash === order.hash) return;
  const message = 'The standing order says something else by now than what If-Match names; read it again.';
  throw new ContentChanged({ message, details: { version: order.version, hash: order.hash } });
}
