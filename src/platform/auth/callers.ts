import { Injectable } from '@nestjs/common';
import { sha256 } from '../kernel/canonical-json.js';
import { Clock } from '../kernel/clock.js';
import { Forbidden, Unauthorized } from '../kernel/errors.js';
import { RequestContext } from '../kernel/request-context.js';
import { isOperatorToken } from '../kernel/operator-token.js';
import type { Statement } from '../database/batch.js';
import { Db } from '../database/db.js';
import { isSessionSecret } from './session-cookie.js';
import type { RoutePolicy } from '../http/route.js';
import type { Caller } from './caller.js';

interface Found extends Caller {
  expiresAt: number | null;
  revokedAt: number | null;
  memberStatus: 'active' | 'removed';
  /** Of tokens alone. */
  pausedAt?: number | null;
}

/** What the route that is called says of itself. */
export type Opens = Pick<RoutePolicy, 'beforeSecondFactor' | 'evenPaused'>;

interface Known {
  found: Promise<Found | undefined>;
  isKnown: boolean;
  until: number;
}

/** Without a request for so long, a session of the admin area ends (CONTRACT, Admin). */
export const SESSION_IDLE_MINUTES = 30;

/** A revoked token is refused everywhere within one second (CONTRACT, Tokens); half of that is left for the clock. */
const REMEMBER_MS = 500;
const REMEMBER_AT_MOST = 10_000;

/**
 * Who presents a token, or the cookie of a session. Looked up by its SHA-256, remembered for half a second: under load one
 * look-up serves many requests, and a revocation is still seen by every process in time, without any message between them.
 */
@Injectable()
export class Callers {
  readonly #known = new Map<string, Known>();
  readonly #used = new Map<string, string>();

  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws Unauthorized with the reason `missing_token`, `invalid_token`, `expired_token` or `revoked_token`
   * @throws Forbidden with the reason `token_paused` or `second_factor_required`, unless `opens` says otherwise
   */
  async identify(token: string | undefined, opens: Opens = {}): Promise<Caller> {
    if (token === undefined || token === '') throw noToken('missing_token');
    const hash = sha256(token);
    const found = isOperatorToken(token)
      ? await this.find(`token ${hash}`, { text: 'select * from app.find_caller($1)', values: [hash] })
      : undefined;
    if (!found) throw noToken('invalid_token');
    // Of a session that lacks a second factor the token is reported as revoked (app.find_caller).
    const isRevoked = found.revokedAt && !found.lacksSecondFactor;
    if (isRevoked || found.memberStatus !== 'active') throw noToken('revoked_token');
    if (found.expiresAt && found.expiresAt <= this.clock.now()) throw noToken('expired_token');
    if (found.pausedAt && !opens.evenPaused) throw tokenPaused();
    assertSecondFactor(found, opens);
    this.#used.set(found.credentialId, found.workspaceId);
    return found;
  }

  /**
   * @throws Unauthorized with the reason `missing_session`, `invalid_session`, `ended_session` or `expired_session`
   * @throws Forbidden with the reason `second_factor_required`, unless `opens` says otherwise
   */
  async identifySession(secret: string | undefined, opens: Opens): Promise<Caller> {
    if (secret === undefined || secret === '') throw noSession('missing_session');
    const now = this.clock.now();
    const hash = sha256(secret);
    if (!isSessionSecret(secret)) throw noSession('invalid_session');
    const found = await this.find(`session ${hash}`, {
      text: `select * from app.find_session($1, $2, interval '${SESSION_IDLE_MINUTES} minutes')`,
      values: [hash, new Date(now)],
    });
    if (!found) throw noSession('invalid_session');
    if (found.revokedAt || found.memberStatus !== 'active') throw noSession('ended_session');
    if (found.expiresAt! <= now) throw noSession('expired_session');
    assertSecondFactor(found, opens);
    return found;
  }

  /** The tokens used since the last call, with their workspaces; for noting `lastUsedAt` now and then. */
  drainUsed(): Map<string, string> {
    const used = new Map(this.#used);
    this.#used.clear();
    return used;
  }

  /** The key says of what kind the credential is: a token that is known as such must not pass for the cookie of a session. */
  private find(key: string, { text, values }: Statement): Promise<Found | undefined> {
    const now = this.clock.now();
    const known = this.#known.get(key);
    // What stops work does not share a look-up that may itself be waiting for a connection.
    const shares = known?.isKnown || !RequestContext.current?.urgent;
    if (known && known.until > now && shares) return known.found;
    if (this.#known.size >= REMEMBER_AT_MOST) this.#known.clear();
    const found = this.db.system<Found>(text, values).then(([row]) => row);
    const looked: Known = { found, isKnown: false, until: now + REMEMBER_MS };
    this.#known.set(key, looked);
    // Neither a failure nor a stranger is remembered: strangers could fill the memory.
    found.then(
      (row) => (row ? (looked.isKnown = true) : this.#known.delete(key)),
      () => this.#known.delete(key),
    );
    return found;
  }
}

function assertSecondFactor({ lacksSecondFactor }: Found, { beforeSecondFactor }: Opens): void {
  if (!lacksSecondFactor || beforeSecondFactor) return;
  const message = 'This needs a second factor: show the one of your account, or set one up.';
  throw new Forbidden({ reason: 'second_factor_required', message });
}

const WITHOUT_TOKEN = {
  missing_token:
    'Send an operator token in the header x-service-token. The first one stands in credentials.json in the DATA_DIR of the service.',
  invalid_token:
    'There is no such operator token. An admin makes one with POST /tokens, which shows it once.',
  revoked_token: 'This token was revoked.',
  expired_token: 'This token has expired.',
};

/** The error for a missing or unknown token. */
export function noToken(reason: keyof typeof WITHOUT_TOKEN): Error {
  return new Unauthorized({ reason, message: WITHOUT_TOKEN[reason] });
}

/** A paused token is known, so this is no 401: the same token works again once it is resumed. */
export function tokenPaused(): Error {
  const message = 'This token is paused. An owner or an admin of the workspace can resume it.';
  return new Forbidden({ reason: 'token_paused', message });
}

/** The error for a missing or ended session. */
export function noSession(reason: string): Error {
  return new Unauthorized({
    reason,
    message: 'You are not signed in. POST /api/admin/session signs you in.',
  });
}
