import { defineError } from '../../platform/kernel/define-error.js';

export const UnknownPublisher = defineError(
  'UNKNOWN_PUBLISHER',
  422,
  'The publisher of this skill pack is not one of SKILL_PACK_PUBLISHERS.',
);
export const InvalidPackSignature = defineError(
  'INVALID_PACK_SIGNATURE',
  422,
  'The signature does not match the manifest: it was changed, or signed with another key than the publisher has here.',
);
export const PackRevoked = defineError('PACK_REVOKED', 422, 'The publisher has revoked this skill pack.');
export const PackVersionTaken = defineError(
  'PACK_VERSION_TAKEN',
  409,
  'This version of the skill pack, or a later one, was installed before.',
);
export const TooManyPacks = defineError(
  'TOO_MANY_SKILL_PACKS',
  409,
  'The workspace has the maximum number of skill packs.',
);
