import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Role, Tier } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { newId } from '../../platform/kernel/ids.js';
import type { SecretBox } from '../../platform/secrets/secret-box.js';

/** What a link is bound to: whatever of it changes, the link of before opens nothing. */
interface LinkBinding {
  workspaceId: string;
  linkId: string;
  memberId: string;
  approvalId: string;
  contentHash: string;
}

const TOKEN = /^([0-7][0-9a-hjkmnp-tv-z]{25})([0-9a-f]{64})$/;
const PURPOSE = 'decision links';

/**
 * The secret of a link: the id of its row and a code over everything that the row binds it to. It is kept nowhere, so nobody who
 * reads the database can decide by it, and nobody who writes there can make one.
 */
export function tokenOf(link: LinkBinding, secrets: SecretBox): string {
  return link.linkId.slice('lnk_'.length) + codeOf(link, secrets).toString('hex');
}

/** The id and the code of a text that is written like the secret of a link. */
export function readToken(text: string): { linkId: string; code: Buffer } | undefined {
  const [, id, code] = TOKEN.exec(text) ?? [];
  return id && code ? { linkId: `lnk_${id}`, code: Buffer.from(code, 'hex') } : undefined;
}

/** Whether the code is that of the link; in the same time whatever it is. */
export function isCodeOf(code: Buffer, link: LinkBinding, secrets: SecretBox): boolean {
  return timingSafeEqual(code, codeOf(link, secrets));
}

function codeOf({ workspaceId, linkId, memberId, approvalId, contentHash }: LinkBinding, secrets: SecretBox) {
  return secrets.code([workspaceId, linkId, memberId, approvalId, contentHash].join('\n'), PURPOSE);
}

/** What a link can be used for; an edit is followed by another link of the same member. */
export type LinkUse = 'approve' | 'answer' | 'reject' | 'revise' | 'edit';

/** A link with the member it was mailed to, as they stand now. */
export interface FoundLink extends LinkBinding {
  workspaceName: string;
  tier: Tier;
  timezone: string;
  userId: string;
  name: string;
  email: string;
  role: Role;
  teamIds: string[];
  teamRoles: Record<string, Role>;
  /** Rejoined: since the link was made, the member was removed and has joined again. */
  memberStatus: 'active' | 'removed' | 'rejoined';
  /** The account has a second factor, or the workspace requires one of the member. */
  asksSecondFactor: boolean;
  usedAt: number | null;
  decision: LinkUse | null;
}

@Injectable()
export class DecisionLinks {
  constructor(private readonly db: Db) {}

  /**
   * The links of a mail, one for each approval; those that were made for it before stay as they are.
   * @param mailId the mail, or the link whose page holds this one
   */
  async make(
    { workspaceId, memberId, mailId }: { workspaceId: string; memberId: string; mailId: string },
    approvals: readonly { approvalId: string; contentHash: string }[],
    at: number,
  ): Promise<LinkBinding[]> {
    if (approvals.length === 0) return [];
    return this.db.query(
      `insert into decision_links as made (workspace_id, link_id, member_id, approval_id, content_hash, mail_id, created_at)
       select $1, n.id, $2, n.approval_id, n.content_hash, $3, $4
       from unnest($5::text[], $6::text[], $7::text[]) n (id, approval_id, content_hash)
       on conflict (workspace_id, mail_id, approval_id) do update set mail_id = excluded.mail_id
       returning workspace_id, link_id, member_id, approval_id, content_hash`,
      [
        ...[workspaceId, memberId, mailId, new Date(at)],
        approvals.map(() => newId('lnk')),
        approvals.map(({ approvalId }) => approvalId),
        approvals.map(({ contentHash }) => contentHash),
      ],
    );
  }

  /** Asked before a workspace is known. */
  async find(linkId: string): Promise<FoundLink | undefined> {
    const [link] = await this.db.system<FoundLink>('select * from app.find_decision_link($1)', [linkId]);
    return link;
  }

  /** Uses the link up in the open transaction. False when it was used before, or is by another that has just committed. */
  async use({ workspaceId, linkId }: LinkBinding, decision: LinkUse, at: number): Promise<boolean> {
    const used = await this.db.query(
      `update decision_links set used_at = $3, decision = $4
       where workspace_id = $1 and link_id = $2 and used_at is null returning link_id`,
      [workspaceId, linkId, new Date(at), decision],
    );
    return used.length > 0;
  }

  /** The link that an edit by this one was answered with, unless that has been used too. */
  async following({ workspaceId, linkId }: LinkBinding): Promise<LinkBinding | undefined> {
    const [link] = await this.db.read<LinkBinding>(
      { workspaceId, teamIds: 'all' },
      `select workspace_id, link_id, member_id, approval_id, content_hash from decision_links
       where workspace_id = $1 and mail_id = $2 and used_at is null`,
      [workspaceId, linkId],
    );
    return link;
  }
}
