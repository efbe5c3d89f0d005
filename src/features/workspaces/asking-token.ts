import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf, seesWholeWorkspace } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { scopeSettings } from '../../platform/database/unit-of-work.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { defineError } from '../../platform/kernel/define-error.js';
import { AlreadyExists, Forbidden, NotFound } from '../../platform/kernel/errors.js';
import { APPROVAL_LASTS_MS } from '../terms/index.js';
import { Teams } from './teams.repository.js';
import type { AskBody } from './tokens.dto.js';
import { Tokens } from './tokens.repository.js';
import { teamNotNamed } from './workspaces.errors.js';

/**
 * Which team a new record belongs to: the one that the request names, else the caller's only one, else none. Owner and
 * admin of the workspace never default to a team: a member who adds them to one would then read their directives.
 */
@Injectable()
export class TeamOfRequest {
  constructor(private readonly teams: Teams) {}

  /**
   * @throws NotFound for a team that does not exist or that the caller may not see
   * @throws ValidationFailed when the caller is in several teams and names none: a record without a team would be
   * one that the caller could not see
   */
  async resolve(caller: Caller, asked: string | null | undefined): Promise<string | null> {
    const { teamIds } = caller;
    const seesAll = seesWholeWorkspace(caller);
    if (asked === undefined || asked === null) {
      if (seesAll || teamIds.length === 0) return null;
      if (teamIds.length > 1) throw teamNotNamed();
      return teamIds[0]!;
    }
    if (teamIds.includes(asked)) return asked;
    if (!seesAll || !(await this.teams.isActive(scopeOf(caller), asked))) throw new NotFound();
    return asked;
  }
}

/** So that one agent cannot bury what others ask. */
const MAX_PENDING = 100;

export const TooManyPending = defineError(
  'TOO_MANY_PENDING',
  409,
  `At most ${MAX_PENDING} requests of an agent can wait, and as many questions. Cancel some, or wait until people have decided.`,
);

/** What a token asks for, as it tells the same request sent again from another. */
interface Asked<T> extends Pick<AskBody, 'teamId' | 'externalId' | 'expiresInSeconds'> {
  /** All of it except for the team. */
  content: Record<string, unknown>;
  /** Finds the earlier request of this name. */
  byExternalId: (tokenRootId: string, externalId: string | null) => Statement;
  /** Finds so many at most of those that wait. */
  pending: (tokenRootId: string, limit: number) => Statement;
  hashOf: (former: T) => string;
}

/** The token by which something is asked for, in the open transaction. */
@Injectable()
export class AskingToken {
  constructor(
    private readonly db: Db,
    private readonly tokens: Tokens,
    private readonly teams: TeamOfRequest,
  ) {}

  /** Locks the caller's token; {@link assertUsable} reads the rows. */
  lockStatement({ workspaceId, credentialId }: Caller): Statement {
    return this.tokens.lockUsableStatement(workspaceId, credentialId);
  }

  /** @throws Forbidden */
  assertUsable([token]: unknown[]): void {
    if (!token) throw new Forbidden({ message: 'This token was paused or revoked.' });
  }

  /**
   * The asking token may take back what it asked for, and operators of the team may.
   * @throws NotFound for what another agent asked, Forbidden
   */
  assertMayCancel(caller: Caller, asked: { tokenRootId: string; teamId: string | null }): void {
    if (caller.tokenRootId === asked.tokenRootId) return;
    if (caller.agent) throw new NotFound();
    requireRole(caller, asked.teamId, 'operator');
  }

  /**
   * The team that the request is for, how long people may take, the same request where it was sent before, and whether as many of an
   * agent wait as may. Answers the rows of `also`, too.
   * @throws ValidationFailed, NotFound for a team, Forbidden, AlreadyExists where the externalId stands for another request
   */
  async admit<T extends { teamId: string | null }>(
    caller: Caller,
    { teamId: asked, externalId = null, expiresInSeconds, content, byExternalId, pending, hashOf }: Asked<T>,
    also: Statement[],
  ) {
    const tokenRootId = caller.tokenRootId!;
    const teamId = await this.teams.resolve(caller, asked);
    requireRole(caller, teamId, 'operator');
    const requestHash = sha256(canonicalJson({ ...content, teamId }));
    const { scope } = this.db.unit;
    // An externalId is unique in the whole workspace, whatever teams the token's member has been in.
    const [token, , , [former], { length }, , ...others] = (await this.db.unit.batch([
      this.lockStatement(caller),
      this.tokens.lockAskingStatement(tokenRootId),
      scopeSettings({ ...scope, teamIds: 'all' }),
      byExternalId(tokenRootId, externalId),
      pending(tokenRootId, MAX_PENDING),
      scopeSettings(scope),
      ...also,
    ])) as [unknown[], unknown, unknown, [T?], unknown[], unknown, ...unknown[][]];
    this.assertUsable(token);
    if (former && (hashOf(former) !== requestHash || former.teamId !== teamId)) {
      throw new AlreadyExists({ message: 'This externalId stands for another request.' });
    }
    const expiresInMs = expiresInSeconds ? expiresInSeconds * 1_000 : APPROVAL_LASTS_MS;
    const isFull = caller.agent !== null && length >= MAX_PENDING;
    return { tokenRootId, teamId, externalId, requestHash, former, isFull, expiresInMs, also: others };
  }
}
