import type { Actor } from '../../platform/auth/caller.js';
import { CAPOS, type CapoRole } from './capo.js';

/** A capo as it stands in records and receipts. */
export function capoActor(capo: CapoRole): Actor {
  return { type: 'capo', id: capo, name: CAPOS[capo].name, via: 'policy' };
}
