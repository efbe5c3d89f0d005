import { ACTION_TYPES } from '../src/features/capos/action-types.js';
import { engineOf } from '../src/features/capos/capo.js';
import { faultsIn } from '../src/features/packs/check-manifest.js';
import { inPart, readManifest, bodyOfOrder, type PackManifest } from '../src/features/packs/pack-manifest.js';
import { ActionReversibility } from '../src/features/standing-orders/order-tools.js';
import { ruleFaults } from '../src/features/standing-orders/rule-faults.js';
import { CreateStandingOrderBody } from '../src/features/standing-orders/standing-orders.dto.js';
import { validationPipe } from '../src/platform/http/validation.js';
import type { Fault } from '../src/platform/kernel/define-error.js';

/** A manifest with all that can be said against it without the database of the service, which alone knows its zones. */
export async function checkedManifest(raw: unknown): Promise<{ manifest?: PackManifest; faults: Fault[] }> {
  const read = readManifest(raw);
  if (!('manifest' in read)) return read;
  const { manifest, faults } = read;
  return { manifest, faults: [...faults, ...(await orderFaults(manifest))] };
}

async function orderFaults({ standingOrders }: PackManifest): Promise<Fault[]> {
  const actions = new ActionReversibility();
  actions.register(ACTION_TYPES, engineOf);
  const found: Fault[] = [];
  for (const [index, order] of standingOrders.entries()) {
    const faults = await faultsOfBody(bodyOfOrder(order), actions);
    found.push(...faults.map((fault) => inPart('standingOrders', index, fault)));
  }
  return found;
}

async function faultsOfBody(written: object, actions: ActionReversibility): Promise<Fault[]> {
  try {
    const body: CreateStandingOrderBody = await validationPipe().transform(written, {
      type: 'body',
      metatype: CreateStandingOrderBody,
    });
    const { effect, match, capos = null, when = null, limits = null, budget = null } = body;
    const { approval = null, expiresAt = null } = body;
    const rule = { teamId: null, capos, effect, match, when, limits, budget, approval, expiresAt };
    return ruleFaults(rule, actions.known(), Date.now());
  } catch (error) {
    return faultsIn(error);
  }
}
