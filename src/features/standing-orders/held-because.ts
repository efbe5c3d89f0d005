import { type Caller, seesWholeWorkspace } from '../../platform/auth/caller.js';
import type { StandingOrderEntity } from './standing-order.entity.js';

/** Why an order is held that would have let out what cannot be undone. */
export function relaxesPast(relaxedIrreversible: number): string {
  const packets = relaxedIrreversible === 1 ? '1 work packet' : `${relaxedIrreversible} work packets`;
  return `It would have decided less strictly about ${packets} of the past that cannot be undone.`;
}

const RELAXES_PAST =
  /It would have decided less strictly about \d+ work packets? of the past that cannot be undone\. ?/;

type Held = Pick<StandingOrderEntity, 'heldBecause' | 'simulation' | 'version'>;

/** Why the order is held, for this reader: it counts no work packets that they may not see. */
export function heldBecauseFor(reader: Pick<Caller, 'role'>, order: Held): string | null {
  return seesWholeWorkspace(reader) ? order.heldBecause : heldBecauseForAll(order);
}

/** The same for everybody who sees the order, as its receipts say it. */
export function heldBecauseForAll({ heldBecause, simulation, version }: Held): string | null {
  if (heldBecause === null) return null;
  const own = simulation?.version === version ? (simulation.own?.relaxedIrreversible ?? 0) : 0;
  return heldBecause.replace(RELAXES_PAST, own > 0 ? `${relaxesPast(own)} ` : '').trim();
}
