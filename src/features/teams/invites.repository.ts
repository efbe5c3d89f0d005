import { Injectable } from '@nestjs/common';
import { type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { violatedConstraint } from '../../platform/database/database-errors.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import { AlreadyExists, RateLimited } from '../../platform/kernel/errors.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import { isInviteToken, type ListedInvite, viewOf } from './invite.js';
import { InviteEntity } from './invite.entity.js';
import type { InvitesQuery, InviteView } from './invites.dto.js';

const LISTED = columnsOf(InviteEntity, {
  of: 'i',
  without: ['workspaceId', 'tokenHash', 'sealedToken', 'generation', 'wrongPasswords'],
});

/** Invites that one address is mailed in 24 hours, by all workspaces together. */
const MAILS_PER_DAY = 10;
const DAY_MS = 86_400_000;

/** The account that has an address. */
export interface Account {
  userId: string;
  displayName: string;
  passwordHash: string | null;
  hasSecondFactor: boolean;
}

/** Where a token belongs. */
export interface InvitePlace {
  inviteId: string;
  workspaceId: string;
  email: string;
}

/** What the invited person is told. */
export interface InviteContext {
  workspaceName: string;
  timezone: string;
  teamName: string | null;
}

@Injectable()
export class Invites {
  constructor(private readonly db: Db) {}

  /** All invites for owner and admin of the workspace, for others those to the teams whose admin they are. */
  async list(caller: Caller, { status, ...paging }: InvitesQuery, now: number): Promise<Page<InviteView>> {
    const values: unknown[] = [caller.workspaceId];
    const conditions = ['i.workspace_id = $1'];
    if (!hasRole(caller.role, 'admin')) {
      const managed = caller.teamIds.filter((teamId) => caller.teamRoles[teamId] === 'admin');
      conditions.push(`i.team_id = any($${values.push(managed)})`);
    }
    if (status === 'pending' || status === 'expired') {
      const isLate = `i.expires_at <= $${values.push(new Date(now))}`;
      conditions.push(
        status === 'pending'
          ? `i.status = 'pending' and not ${isLate}`
          : `(i.status = 'expired' or i.status = 'pending' and ${isLate})`,
      );
    } else if (status !== undefined) {
      conditions.push(`i.status = $${values.push(status)}`);
    }
    const listing = {
      name: 'invites',
      select: LISTED,
      from: 'invites i',
      where: conditions.join(' and '),
      values,
      order: newestFirst('i.invite_id', 'i.created_at'),
    };
    const page = await readPage<ListedInvite>(this.db, scopeOf(caller), listing, paging);
    return { ...page, items: page.items.map((invite) => viewOf(invite, now)) };
  }

  /** The invite, locked, if the transaction may see it. */
  lock(workspaceId: string, inviteId: string): Promise<InviteEntity | undefined> {
    return this.db.lockOne(InviteEntity, { workspaceId, inviteId }, 'for update');
  }

  /** The newest invite to this address that can be accepted, locked. */
  async lockOpenTo(workspaceId: string, email: string, now: number): Promise<InviteEntity | undefined> {
    const [invite] = await this.db.query<InviteEntity>(
      `select ${columnsOf(InviteEntity)} from invites
       where workspace_id = $1 and email = $2 and status = 'pending' and expires_at > $3
       order by created_at desc, invite_id desc limit 1 for update`,
      [workspaceId, email, new Date(now)],
    );
    return invite;
  }

  /** How many invites of the workspace can be accepted. */
  async countOpen(workspaceId: string, now: number): Promise<number> {
    const [row] = await this.db.query<{ count: number }>(
      `select count(*)::int as count from invites where workspace_id = $1 and status = 'pending' and expires_at > $2`,
      [workspaceId, new Date(now)],
    );
    return row!.count;
  }

  /**
   * Adds an invite in the open transaction; one for the same address and team that nobody can accept any more makes room.
   * @throws AlreadyExists while there is an open one
   */
  async add(invite: InviteEntity): Promise<void> {
    const { workspaceId, teamId, email, createdAt } = invite;
    this.db.write(
      `update invites set status = 'expired', sealed_token = null where workspace_id = $1 and email = $2 and team_id is not distinct from $3
         and status = 'pending' and expires_at <= $4`,
      [workspaceId, email, teamId, new Date(createdAt)],
    );
    try {
      await this.db.query(
        `insert into invites (invite_id, workspace_id, team_id, email, role, token_hash, sealed_token, mails, invitee_name,
           invited_by, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
        [
          ...[invite.inviteId, workspaceId, teamId, email, invite.role, invite.tokenHash, invite.sealedToken],
          ...[invite.mails, invite.inviteeName],
          ...[JSON.stringify(invite.invitedBy), new Date(createdAt), new Date(invite.expiresAt)],
        ],
      );
    } catch (error) {
      if (violatedConstraint(error) !== 'invites_open') throw error;
      const message = 'This address has an open invite already: send that one again, or withdraw it.';
      throw new AlreadyExists({ message, cause: error });
    }
  }

  /** Gives the invite another token and begins its days anew; the mail is to be sent again. */
  renew(invite: InviteEntity): void {
    const { workspaceId, inviteId, tokenHash, sealedToken, generation, expiresAt, status } = invite;
    this.db.write(
      `update invites set token_hash = $3, sealed_token = $4, generation = $5, expires_at = $6, status = $7,
         mail_status = 'queued', mail_error = null, wrong_passwords = 0, mails = mails || now()
       where workspace_id = $1 and invite_id = $2`,
      [workspaceId, inviteId, tokenHash, sealedToken, generation, new Date(expiresAt), status],
    );
  }

  end(workspaceId: string, inviteId: string, status: 'accepted' | 'withdrawn'): void {
    this.db.update(InviteEntity, { workspaceId, inviteId }, { status, sealedToken: null });
  }

  /** The invites that a member sent, and those to an address, which nobody has accepted or withdrawn; locked. */
  lockPending(
    workspaceId: string,
    { by, to = null }: { by: string; to?: string | null },
  ): Promise<InviteEntity[]> {
    return this.db.query(
      `select ${columnsOf(InviteEntity)} from invites
       where workspace_id = $1 and status = 'pending' and (invited_by ->> 'id' = $2 or email = $3)
       order by invite_id for update`,
      [workspaceId, by, to],
    );
  }

  /** Every invite that nobody has accepted or withdrawn; locked. */
  lockAllPending(workspaceId: string): Promise<InviteEntity[]> {
    return this.db.query(
      `select ${columnsOf(InviteEntity)} from invites where workspace_id = $1 and status = 'pending'
       order by invite_id for update`,
      [workspaceId],
    );
  }

  /** Withdraws what is open to this team, and answers it. */
  withdrawOf(workspaceId: string, teamId: string): Promise<Pick<InviteEntity, 'inviteId' | 'email'>[]> {
    return this.db.query(
      `update invites set status = 'withdrawn', sealed_token = null
       where workspace_id = $1 and team_id = $2 and status = 'pending' returning invite_id, email`,
      [workspaceId, teamId],
    );
  }

  /** What became of the mail with this token. */
  saveMail(
    { workspaceId, inviteId, generation }: InviteEntity,
    changes: Pick<InviteEntity, 'mailStatus' | 'mailError'>,
  ): void {
    this.db.update(InviteEntity, { workspaceId, inviteId, generation }, { ...changes, sealedToken: null });
  }

  /** Counts a wrong password, in a transaction of its own. */
  async countWrongPassword({ workspaceId, inviteId }: InvitePlace): Promise<void> {
    await this.db.writeAll({ workspaceId, teamIds: 'all' }, [
      {
        text: `update invites set wrong_passwords = wrong_passwords + 1 where workspace_id = $1 and invite_id = $2`,
        values: [workspaceId, inviteId],
      },
    ]);
  }

  /** @throws RateLimited when this address was mailed so many invites today, from all inviters */
  async assertMayMail(email: string, now: number): Promise<void> {
    const [row] = await this.db.query<{ n: number; firstAt: number | null }>(
      'select * from app.invite_mails($1)',
      [email],
    );
    if (row!.n < MAILS_PER_DAY) return;
    throw new RateLimited({
      message: `One address is sent at most ${MAILS_PER_DAY} invites in 24 hours.`,
      retryAfterSeconds: (row!.firstAt! + DAY_MS - now) / 1000,
      details: { policy: 'invite-mails', limit: MAILS_PER_DAY, windowSeconds: DAY_MS / 1000 },
    });
  }

  /** Where the token belongs, if to anything. */
  async placeOf(token: string): Promise<InvitePlace | undefined> {
    if (!isInviteToken(token)) return undefined;
    const [place] = await this.db.system<InvitePlace>('select * from app.find_invite($1)', [sha256(token)]);
    return place;
  }

  /** The account with this address; joins the open transaction if there is one. */
  async accountOf({ workspaceId, email }: InvitePlace): Promise<Account | undefined> {
    const scope = { workspaceId, teamIds: 'all' as const };
    const [account] = await this.db.read<Account>(scope, 'select * from app.find_account($1)', [email]);
    return account;
  }

  /** The invite with what the invited person is told about it. */
  async read({
    workspaceId,
    inviteId,
  }: Pick<InvitePlace, 'workspaceId' | 'inviteId'>): Promise<InviteEntity & InviteContext> {
    const [row] = await this.db.read<InviteEntity & InviteContext>(
      { workspaceId, teamIds: 'all' },
      `select ${columnsOf(InviteEntity, { of: 'i' })}, w.name as workspace_name, w.timezone, t.name as team_name
       from invites i join workspaces w on w.workspace_id = i.workspace_id
       left join teams t on t.workspace_id = i.workspace_id and t.team_id = i.team_id
       where i.workspace_id = $1 and i.invite_id = $2`,
      [workspaceId, inviteId],
    );
    return row!;
  }
}
