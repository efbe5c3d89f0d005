import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { DomainError } from '../../platform/kernel/define-error.js';
import { Unavailable } from '../../platform/kernel/errors.js';
import { cutText } from '../../platform/kernel/text.js';
import { ProviderUnreachable } from './oidc-fetch.js';
import { OidcNotVerified, OidcRefused, OidcSignInExpired } from './oidc.errors.js';

/** What the operator reads in the log: the reason, and neither tokens nor what they say about a person. */
interface Logged {
  why: string;
  code?: string;
  said?: string;
}

/** The provider's own answer says that it cannot answer now (RFC 6749, section 4.1.2.1). */
const LATER = ['server_error', 'temporarily_unavailable'];

/** Answers that are no answers: another status or type, or none in time. */
const UNUSABLE = ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_TIMEOUT'];

/** What a person is told of an error on the way to the provider and back, and what the log is told. */
export function failureOf(error: unknown, provider: string): { told: Error; logged?: Logged } {
  if (error instanceof DomainError) return { told: error };
  const logged = loggedOf(error);
  if (error instanceof AuthorizationResponseError) return { told: refusal(error, provider), logged };
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant') {
    return { told: new OidcSignInExpired({ cause: error }), logged };
  }
  if (error instanceof ResponseBodyError || error instanceof WWWAuthenticateChallengeError) {
    const message = `The sign-in service ${provider} does not accept this service; the operator of Consigliere finds the reason in its log.`;
    return { told: new Unavailable({ message, retryAfterSeconds: 30, cause: error }), logged };
  }
  const isUnusable = error instanceof ClientError && UNUSABLE.includes(error.code ?? '');
  if (isUnusable || unreachable(error)) {
    const message = `The sign-in service ${provider} cannot be reached at the moment; try again in a minute.`;
    return { told: new Unavailable({ message, retryAfterSeconds: 30, cause: error }), logged };
  }
  return { told: new OidcNotVerified({ cause: error }), logged };
}

/** What the provider says with `error=`; its own words may be anybody's, so the page does not repeat them. */
function refusal({ error, cause }: AuthorizationResponseError, provider: string): DomainError {
  if (error === 'access_denied') {
    const message = `The sign-in was cancelled, or ${provider} does not let you use Consigliere.`;
    return new OidcRefused({ message, cause });
  }
  if (!LATER.includes(error)) return new OidcRefused({ cause });
  const message = `The sign-in service ${provider} cannot sign anybody in at the moment; try again in a minute.`;
  return new Unavailable({ message, retryAfterSeconds: 30, cause });
}

function loggedOf(error: unknown): Logged {
  const lost = unreachable(error);
  if (lost) return { why: cutText(lost.message, 300) };
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const { error: code, error_description: said } = error;
    return {
      why: error.message,
      code: cutText(code, 100),
      ...(said !== undefined && { said: cutText(said, 300) }),
    };
  }
  if (error instanceof ClientError) {
    const { code, message, cause } = error;
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return { why: cutText(why, 300), ...(code !== undefined && { code }) };
  }
  return { why: error instanceof Error ? cutText(error.message, 300) : 'unknown' };
}

/** What kept the request from an answer, wherever the library put it. */
function unreachable(error: unknown): ProviderUnreachable | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof ProviderUnreachable) return at;
  }
  return undefined;
}
