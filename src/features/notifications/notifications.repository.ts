import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import { newId } from '../../platform/kernel/ids.js';
import { NotificationEntity, type NotificationKind } from './notification.entity.js';
import { HOUR_MS, type Mailbox, type Telling } from './notification-choice.js';

const COLUMNS = columnsOf(NotificationEntity);
/** What members are to be told of. */
export interface NewNotifications {
  kind: NotificationKind;
  entityId: string;
  revision: string;
  teamId: string | null;
  urgent: boolean;
  createdAt: number;
  to: readonly (Telling & { memberId: string })[];
}

@Injectable()
export class Notifications {
  constructor(private readonly db: Db) {}

  /** Adds one for each member; a member with one about this revision keeps it. */
  add(workspaceId: string, { to, ...about }: NewNotifications): void {
    const { kind, entityId, revision, teamId, urgent, createdAt } = about;
    this.db.write(
      `insert into notifications (workspace_id, notification_id, member_id, kind, entity_id, revision, team_id, urgent,
         in_digest, status, due_at, tries, created_at)
       select $1, n.id, n.member_id, $2, $3, $4, $5, $6, n.in_digest, 'waiting', n.due_at, 0, $7
       from unnest($8::text[], $9::text[], $10::boolean[], $11::timestamptz[]) n (id, member_id, in_digest, due_at)
       on conflict do nothing`,
      [
        ...[workspaceId, kind, entityId, revision, teamId, urgent, new Date(createdAt)],
        to.map(() => newId('ntf')),
        to.map(({ memberId }) => memberId),
        to.map(({ inDigest }) => inDigest),
        to.map(({ dueAt }) => new Date(dueAt)),
      ],
    );
  }

  /** Some of what is due for a member: what stands in a mail already first, then a kill or its end, then what is urgent, the oldest first. */
  due(workspaceId: string, memberId: string, at: number, limit: number): Promise<NotificationEntity[]> {
    return this.db.query(
      `select ${COLUMNS} from notifications
       where workspace_id = $1 and member_id = $2 and status in ('waiting', 'sending') and due_at <= $3
       order by status, mail_id, kind = 'kill' desc, urgent desc, created_at, notification_id limit $4`,
      [workspaceId, memberId, new Date(at), limit],
    );
  }

  /** When the next one falls due that nobody has begun to mail; null: none waits. */
  async nextDue(workspaceId: string, memberId: string): Promise<number | null> {
    const [row] = await this.db.query<{ dueAt: number | null }>(
      `select min(due_at) as due_at from notifications
       where workspace_id = $1 and member_id = $2 and status in ('waiting', 'sending')`,
      [workspaceId, memberId],
    );
    return row!.dueAt;
  }

  /** What the member was mailed in the last hour. */
  async sentLately(
    workspaceId: string,
    memberId: string,
    at: number,
  ): Promise<Pick<Mailbox, 'singles' | 'digestAt' | 'urgentAt'>> {
    const [row] = await this.db.query<Pick<Mailbox, 'singles' | 'digestAt' | 'urgentAt'>>(
      `select (count(*) filter (where not in_digest))::int as singles, max(ended_at) filter (where in_digest) as digest_at,
         max(ended_at) filter (where urgent) as urgent_at
       from notifications where workspace_id = $1 and member_id = $2 and status = 'sent' and ended_at > $3`,
      [workspaceId, memberId, new Date(at - HOUR_MS)],
    );
    return row!;
  }

  /** The approvals that the member was told of last, the newest first; whether they still wait is for their source to say. */
  toldBefore(workspaceId: string, memberId: string, limit: number): Promise<NotificationEntity[]> {
    return this.db.query(
      `select ${COLUMNS} from notifications
       where workspace_id = $1 and member_id = $2 and kind = 'approval' and status = 'sent'
       order by ended_at desc, notification_id limit $3`,
      [workspaceId, memberId, limit],
    );
  }

  /** Puts these in a mail. */
  beginMail(
    workspaceId: string,
    { ids, mailId, inDigest }: { ids: readonly string[]; mailId: string; inDigest: boolean },
  ): void {
    this.db.write(
      `update notifications set status = 'sending', mail_id = $3, in_digest = $4
       where workspace_id = $1 and notification_id = any($2) and status = 'waiting'`,
      [workspaceId, ids, mailId, inDigest],
    );
  }

  /** The mail could not be handed over; it is tried again as it is. */
  countTry(workspaceId: string, mailId: string, reason: string): void {
    this.db.write(
      `update notifications set tries = tries + 1, reason = $3
       where workspace_id = $1 and mail_id = $2 and status = 'sending'`,
      [workspaceId, mailId, reason],
    );
  }

  endMail(
    workspaceId: string,
    mailId: string,
    { status, reason, at }: { status: 'sent' | 'failed'; reason: string | null; at: number },
  ): void {
    this.db.write(
      `update notifications set status = $3, reason = $4, ended_at = $5
       where workspace_id = $1 and mail_id = $2 and status = 'sending'`,
      [workspaceId, mailId, status, reason, new Date(at)],
    );
  }

  /** The member cannot be told of what is due; answers what that was. What falls due later still waits. */
  giveUp(
    workspaceId: string,
    memberId: string,
    reason: string,
    at: number,
  ): Promise<Pick<NotificationEntity, 'kind' | 'entityId'>[]> {
    return this.db.query(
      `update notifications set status = 'failed', reason = $3, ended_at = $4
       where workspace_id = $1 and member_id = $2 and status in ('waiting', 'sending') and due_at <= $4
       returning kind, entity_id`,
      [workspaceId, memberId, reason, new Date(at)],
    );
  }

  /** Nobody needs to be told of these any more. */
  skip(workspaceId: string, ids: readonly string[], reason: string, at: number): void {
    if (ids.length === 0) return;
    this.db.write(
      `update notifications set status = 'skipped', reason = $3, ended_at = $4
       where workspace_id = $1 and notification_id = any($2) and status in ('waiting', 'sending')`,
      [workspaceId, ids, reason, new Date(at)],
    );
  }

  /** {@link skip} for all that a member is still to be told of. */
  skipAll(workspaceId: string, memberId: string, reason: string, at: number): void {
    this.db.write(
      `update notifications set status = 'skipped', reason = $3, ended_at = $4
       where workspace_id = $1 and member_id = $2 and status in ('waiting', 'sending')`,
      [workspaceId, memberId, reason, new Date(at)],
    );
  }

  /** These wait for another time. */
  postpone(workspaceId: string, ids: readonly string[], dueAt: number): void {
    if (ids.length === 0) return;
    this.db.write(
      `update notifications set due_at = $3, in_digest = true
       where workspace_id = $1 and notification_id = any($2) and status = 'waiting'`,
      [workspaceId, ids, new Date(dueAt)],
    );
  }
}
