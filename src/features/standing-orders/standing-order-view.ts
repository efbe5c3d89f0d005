import { type Caller, seesWholeWorkspace, type Actor } from '../../platform/auth/caller.js';
import type { NewReceipt } from '../../platform/receipts/receipts.js';
import { summaryFor } from './simulation/simulation.dto.js';
import type { StandingOrderEntity, StandingOrderVersionEntity } from './standing-order.entity.js';
import type { StandingOrderMatch, StandingOrderWhen } from './standing-order-rule.dto.js';
import type {
  StandingOrderVersionSummary,
  StandingOrderVersionView,
  ListedStandingOrder,
  NewStandingOrderView,
  StandingOrderView,
} from './standing-orders.dto.js';
import type { ListedOrder, ListedVersion } from './standing-orders.repository.js';

/** Why an order is held that would have let out what cannot be undone. */
export function relaxesPast(relaxedIrreversible: number): string {
  const packets = relaxedIrreversible === 1 ? '1 work packet' : `${relaxedIrreversible} work packets`;
  return `It would have decided less strictly about ${packets} of the past that cannot be undone.`;
}

const RELAXES_PAST =
  /It would have decided less strictly about \d+ work packets? of the past that cannot be undone\. ?/;

type Held = Pick<StandingOrderEntity, 'heldBecause' | 'simulation' | 'version'>;

/** Why the order is held, for this reader: it counts no work packets that they may not see. */
function heldBecauseFor(reader: Pick<Caller, 'role'>, order: Held): string | null {
  return seesWholeWorkspace(reader) ? order.heldBecause : heldBecauseForAll(order);
}

/** The same for everybody who sees the order, as its receipts say it. */
function heldBecauseForAll({ heldBecause, simulation, version }: Held): string | null {
  if (heldBecause === null) return null;
  const own = simulation?.version === version ? (simulation.own?.relaxedIrreversible ?? 0) : 0;
  return heldBecause.replace(RELAXES_PAST, own > 0 ? `${relaxesPast(own)} ` : '').trim();
}

/** Who reads decides what they are told of the simulation. */
type Reader = Pick<Caller, 'role'>;

export function viewOf(order: StandingOrderEntity, reader: Reader): StandingOrderView {
  return {
    ...summaryOf(order, reader),
    match: order.match as StandingOrderMatch,
  };
}

export function newViewOf(order: StandingOrderEntity, reader: Reader): NewStandingOrderView {
  const isDraft = order.status === 'draft';
  return {
    ...viewOf(order, reader),
    ...(isDraft && { listedAt: '/api/pro/standing-orders?status=draft' }),
  };
}

export function summaryOf(order: ListedOrder, reader: Reader): ListedStandingOrder {
  return {
    standingOrderId: order.standingOrderId,
    name: order.name,
    text: order.text,
    teamId: order.teamId,
    capos: order.capos,
    status: order.status,
    heldBecause: heldBecauseFor(reader, order),
    version: order.version,
    effect: order.effect,
    // The rule's lists are read-only; a view's are not, and nothing changes a view.
    match: order.match as StandingOrderMatch | null,
    when: order.when as StandingOrderWhen | null,
    approval: order.approval,
    limits: order.limits,
    budget: order.budget,
    expiresAt: order.expiresAt,
    simulation: order.simulation?.version === order.version ? summaryFor(reader, order.simulation) : null,
    evalRunId: order.evalRunId,
    hash: order.hash,
    createdBy: order.createdBy,
    createdAt: order.createdAt,
    updatedAt: order.updatedAt,
    activatedAt: order.activatedAt,
  };
}

export function versionViewOf(
  version: StandingOrderVersionEntity,
  order: Pick<StandingOrderEntity, 'version'>,
): StandingOrderVersionView {
  return {
    ...versionSummaryOf(version, order),
    match: version.match as StandingOrderMatch,
    when: version.when as StandingOrderWhen | null,
    approval: version.approval,
  };
}

export function versionSummaryOf(
  version: ListedVersion,
  order: Pick<StandingOrderEntity, 'version'>,
): StandingOrderVersionSummary {
  return {
    version: version.version,
    isCurrent: version.version === order.version,
    name: version.name,
    text: version.text,
    capos: version.capos,
    effect: version.effect,
    limits: version.limits,
    budget: version.budget,
    expiresAt: version.expiresAt,
    hash: version.hash,
    createdBy: version.createdBy,
    createdAt: version.createdAt,
  };
}

/** What was done to an order, in the words of its receipt. */
const DEEDS = {
  created: 'created',
  activated: 'activated',
  shadowed: 'began to try out',
  paused: 'paused',
  revised: 'changed',
  rolled_back: 'rolled back',
  archived: 'archived',
  moved: 'moved',
  restored: 'restored',
} as const;

/**
 * What the chain keeps of an act on an order. The hash is that of its rule, which stands in the receipt of each version
 * (`details.rule`): with these receipts alone a decision can be made again.
 */
export function receiptOf(
  order: StandingOrderEntity,
  act: keyof typeof DEEDS,
  by: Actor,
  details: Record<string, unknown> = {},
): NewReceipt {
  const { standingOrderId, teamId, name, effect, version, hash, status } = order;
  return {
    actor: by,
    action: `standing_order.${act}`,
    entity: { type: 'standing_order', id: standingOrderId },
    teamId,
    summary: `${by.name} ${DEEDS[act]} the standing order "${name}".`,
    details: { name, effect, version, hash, status, heldBecause: heldBecauseForAll(order), ...details },
  };
}
