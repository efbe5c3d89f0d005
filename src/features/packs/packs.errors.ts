import { z } from 'zod';
import { defineError } from '../../platform/kernel/define-error.js';
import { STATUS, text } from '../../platform/kernel/error-details.js';

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
export const PackRevoked = defineError('PACK_REVOKED', 422, 'The publisher has revoked this skill pack.', {
  details: z.object({ reason: text('Why, in the words of the publisher.', 'It names a wrong account.') }),
});
export const PackVersionTaken = defineError(
  'PACK_VERSION_TAKEN',
  409,
  'This version of the skill pack, or a later one, was installed before.',
  {
    details: STATUS.extend({
      packId: text('The skill pack.', 'pck_01khqx3v2gs0a0k4y6t1r8m5cd'),
      installedVersion: text('The newest version that was installed.', '1.2.0'),
    }),
  },
);
export const TooManyPacks = defineError(
  'TOO_MANY_SKILL_PACKS',
  409,
  'The workspace has the maximum number of skill packs.',
);
