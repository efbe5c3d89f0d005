import { defineError } from '../../platform/kernel/define-error.js';

export const OidcSignInExpired = defineError(
  'OIDC_SIGN_IN_EXPIRED',
  400,
  'This sign-in took longer than 10 minutes, was completed already, or was begun in another browser or tab. Begin again.',
);

export const OidcNotVerified = defineError(
  'OIDC_NOT_VERIFIED',
  401,
  "The answer of your organisation's sign-in service could not be verified, so nobody was signed in. Begin again; if it happens again, tell the operator of Consigliere; its log has the reason.",
);

export const OidcRefused = defineError(
  'OIDC_REFUSED',
  403,
  "Your organisation's sign-in service did not sign you in.",
);
