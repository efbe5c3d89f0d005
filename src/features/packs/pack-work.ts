import type { Actor } from '../../platform/auth/caller.js';
import type { SkillPackEntity } from './skill-pack.entity.js';

/** The work of letting the parts of a pack arrive; its id is that of the pack. */
export const INSTALL_WORK = 'pack.install';
/** The work of taking back a pack that its publisher revokes. */
export const REVOKE_WORK = 'pack.revoke';

/** A pack as it stands in records and receipts of what it brought. */
export function packActor({ packId, name }: Pick<SkillPackEntity, 'packId' | 'name'>): Actor {
  return { type: 'system', id: packId, name: `The skill pack ${name}`, via: 'policy' };
}
