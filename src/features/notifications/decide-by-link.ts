import { Injectable } from '@nestjs/common';
import { type Caller, hasRole, peopleBehind, roleIn, scopeOf } from '../../platform/auth/caller.js';
import { refreshed, sharedMembership, type Standing, standingOf } from '../../platform/auth/membership.js';
import { withComputed } from '../../platform/database/beforehand.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { defineError } from '../../platform/kernel/define-error.js';
import {
  ContentChanged,
  Forbidden,
  NotFound,
  Unauthorized,
  Unavailable,
} from '../../platform/kernel/errors.js';
import { inWords } from '../../platform/kernel/local-day.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import {
  type Answer,
  ApprovalAlreadyDecided,
  type ApprovalDecided,
  type ApprovalEntity,
  ApprovalExpired,
  type ApprovalPacket,
  Approvals,
  DecideApproval,
  EditApproval,
  type EditBody,
  HoldupsReader,
  type ApprovalRevision,
  type ShownApproval,
  type UnrevisedApproval,
  assertApprover,
  isAmongWhoAsked,
  packetsOf,
  viewOf,
  votesInWords,
} from '../approvals/index.js';
import { Guardians } from '../guardian/index.js';
import {
  isCodeOf,
  readToken,
  tokenOf,
  DecisionLinks,
  type FoundLink,
  type LinkUse,
} from './decision-links.repository.js';

export const LinkUsed = defineError('LINK_USED', 410, 'This link has been used; it works once.');

/** How often it begins anew for a member whose role changes meanwhile. */
const TRIES = 3;

/** What the page of a link shows. */
export interface LinkedApproval {
  approval: ShownApproval;
  workspaceName: string;
  zone: string;
  memberName: string;
  /** Why this link cannot approve, though it can reject; null when it can. */
  notByLink: string | null;
}

interface LinkDecision {
  decision: Exclude<LinkUse, 'edit'>;
  feedback?: string;
  answer?: Answer;
}

/** What stood in a draft as a link was made, and what stands there now. */
export interface DraftChanges {
  zone: string;
  revisions: readonly ApprovalRevision[];
  packets: readonly ApprovalPacket[];
}

const secondFactor = ({ risk }: Pick<ApprovalEntity, 'risk'>) =>
  `Its risk is ${risk}, and a link is one factor only: sign in to approve it. You can reject it here.`;
const FOUR_EYES =
  'A standing order requires approval by someone other than the member who asked for this or edited it, so you cannot approve it. Everybody else who may is mailed a link of their own.';

/**
 * A decision, or an edit, by the link of a mail (docs/decisions/0020): that of the member whom it was mailed to, by the use
 * cases of the API, so with the same checks, and under the lock that keeps members as they are.
 */
@Injectable()
export class DecideByLink {
  constructor(
    private readonly db: Db,
    private readonly links: DecisionLinks,
    private readonly approvals: Approvals,
    private readonly guardians: Guardians,
    private readonly holdups: HoldupsReader,
    private readonly decideApproval: DecideApproval,
    private readonly editApproval: EditApproval,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** What the link opens, without changing anything. @throws what {@link assertOpens} throws */
  async look(token: string): Promise<LinkedApproval> {
    const { link, caller, approval } = await this.read(token);
    const at = this.clock.now();
    assertOpens(link, caller, approval, at);
    return {
      approval: viewOf(approval, at, await this.holdups.read(scopeOf(caller))),
      workspaceName: link.workspaceName,
      zone: link.timezone,
      memberName: link.name,
      notByLink: whyNotByLink(link, caller, approval),
    };
  }

  /** @throws what {@link assertOpens} and DecideApproval throw; nothing is changed then, and the link can be used again */
  execute(token: string, { decision, feedback, answer }: LinkDecision): Promise<ApprovalDecided> {
    return this.use(token, decision, (link, caller, approval) => {
      const { approvalId, contentHash } = link;
      if (decision === 'approve' && asksMore(link, approval)) {
        throw new Forbidden({ reason: 'second_factor_required', message: secondFactor(approval) });
      }
      const body = {
        approvalId,
        decision:
          decision === 'approve' || decision === 'answer' ? ('approve' as const) : ('reject' as const),
        ...(decision === 'revise' && { revise: true }),
        ...(answer !== undefined && { answer }),
        ...(feedback !== undefined && { feedback }),
      };
      return this.decideApproval.execute(caller, body, contentHash);
    });
  }

  /**
   * Saves an edit. Answers the secret of the link that replaces this one: for the same member, and bound to the new content.
   * @throws what {@link assertOpens} and EditApproval throw; nothing is changed then, and the link can be used again
   */
  save(token: string, edit: EditBody): Promise<string> {
    return this.use(token, 'edit', async (link, caller, _approval, at) => {
      const edited = await this.editApproval.execute(caller, link.approvalId, edit, link.contentHash);
      const { approvalId, contentHash } = edited;
      const bound = [{ approvalId, contentHash: contentHash! }];
      const [next] = await this.links.make({ ...link, mailId: link.linkId }, bound, at);
      return tokenOf(next!, this.secrets);
    });
  }

  /** The secret of the link that an edit by this one was answered with, while it can be used; for a form that is sent twice. */
  async following(token: string): Promise<string | undefined> {
    const next = await this.links.following(await this.find(token));
    return next && tokenOf(next, this.secrets);
  }

  /** What the link is about, whether it can still be used or not; undefined for what is no link of ours. */
  async approvalIdOf(token: string): Promise<string | undefined> {
    const link = await this.find(token).catch((error: unknown) => {
      if (error instanceof NotFound) return undefined;
      throw error;
    });
    return link?.approvalId;
  }

  /** The edits since the link was made; undefined where the member may not decide about them any more. */
  async changesSince(token: string): Promise<DraftChanges | undefined> {
    const { link, caller, approval } = await this.read(token);
    const mayDecide = approval && hasRole(roleIn(caller, approval.teamId), 'operator');
    if (link.memberStatus !== 'active' || !mayDecide) return undefined;
    const { revisions } = approval;
    const read = revisions.findLastIndex(({ contentHash }) => contentHash === link.contentHash);
    return { zone: link.timezone, revisions: revisions.slice(read + 1), packets: packetsOf(approval) };
  }

  private async read(token: string) {
    const found = await this.find(token);
    const caller = callerOf(found);
    const approval = await this.approvals.find(scopeOf(caller), found.approvalId);
    const isAsMade = approval?.status === 'pending' && approval.contentHash === found.contentHash;
    // It may have been changed by this very link, since that was read.
    return { link: isAsMade ? found : await this.find(token), caller, approval };
  }

  /** Uses the link up for an act, in one transaction with it. */
  private async use<T>(
    token: string,
    use: LinkUse,
    act: (link: FoundLink, caller: Caller, approval: UnrevisedApproval, at: number) => Promise<T>,
  ): Promise<T> {
    for (let tried = 0; tried < TRIES; tried++) {
      const link = await this.find(token);
      const { workspaceId, approvalId } = link;
      const caller = callerOf(link);
      const done = await withComputed(() =>
        this.db.transaction(
          scopeOf(caller),
          async (unit, opened) => {
            // The member's role has changed since the link was looked up.
            if (standingUnder(caller, opened) !== caller) return undefined;
            const at = this.clock.now();
            // Used first, so that of two at once the second waits here and finds it used.
            const isFirst = await this.links.use(link, use, at);
            const [, [approval]] = (await unit.batch([
              this.guardians.lockSharedStatement(workspaceId),
              this.approvals.lockStatement(workspaceId, [approvalId]),
            ])) as [unknown, [UnrevisedApproval?]];
            assertOpens(isFirst ? link : { ...link, usedAt: link.usedAt ?? at }, caller, approval, at);
            return { answer: await act(link, caller, approval, at) };
          },
          [sharedMembership(workspaceId), standingOf(caller)],
        ),
      );
      if (done) return done.answer;
    }
    throw new Unavailable();
  }

  /** @throws NotFound for what is no link of ours, the same for a wrong code as for an unknown id */
  private async find(token: string): Promise<FoundLink> {
    const read = readToken(token);
    const link = read && (await this.links.find(read.linkId));
    if (!link || !isCodeOf(read.code, link, this.secrets)) {
      throw new NotFound({
        message: 'There is no such link. Open it from the mail as it is, in one piece.',
      });
    }
    return link;
  }
}

function callerOf(link: FoundLink): Caller {
  const { workspaceId, workspaceName, tier, memberId, userId, name, email, role, teamIds, teamRoles } = link;
  return {
    ...{ workspaceId, workspaceName, tier, memberId, userId, name, email, role, teamIds, teamRoles },
    credentialId: link.linkId,
    // It was mailed to the member alone.
    tokenMadeBy: [],
    ...{ scopes: null, agent: null, tools: null, tokenRootId: null },
    via: 'link',
  };
}

function standingUnder(caller: Caller, opened: unknown[][]): Caller {
  try {
    return refreshed(caller, (opened.at(-1) as Standing[])[0]);
  } catch (error) {
    if (error instanceof Unauthorized) throw hasLeft(caller.workspaceName);
    throw error;
  }
}

/** Why the member's link cannot approve it, or not again; null when it can. */
function whyNotByLink(link: FoundLink, caller: Caller, approval: ApprovalEntity): string | null {
  const { memberId } = caller;
  const people = peopleBehind(caller);
  if (!approval.selfApproval && isAmongWhoAsked(approval, people)) return FOUR_EYES;
  try {
    assertApprover(approval, { memberId, role: roleIn(caller, approval.teamId), people });
  } catch (error) {
    if (error instanceof Forbidden) return error.message;
    throw error;
  }
  if (Object.hasOwn(approval.votes, memberId)) return `You have approved it.${votesInWords(approval)}`;
  return asksMore(link, approval) ? secondFactor(approval) : null;
}

/** A link is one factor: what is dangerous asks for the second where the account or the workspace has one. */
function asksMore({ asksSecondFactor }: FoundLink, { risk }: Pick<ApprovalEntity, 'risk'>): boolean {
  return asksSecondFactor && (risk === 'high' || risk === 'critical');
}

/**
 * Whether the link still opens this approval for this member.
 * @throws Forbidden for a member who has left or may not decide it any more, LinkUsed, ApprovalExpired, ApprovalAlreadyDecided,
 * ContentChanged
 */
function assertOpens(
  link: FoundLink,
  caller: Caller,
  approval: UnrevisedApproval | undefined,
  at: number,
): asserts approval is UnrevisedApproval {
  const { workspaceName, timezone, usedAt, decision, contentHash } = link;
  if (link.memberStatus === 'rejoined') {
    throw new Forbidden({
      message: `This link is from before you joined ${workspaceName} again, and ended with your earlier membership.`,
    });
  }
  if (link.memberStatus !== 'active') throw hasLeft(workspaceName);
  if (usedAt !== null) {
    const how = decision && ` You ${USES[decision]} with it on ${inWords(usedAt, timezone)}.`;
    throw new LinkUsed({ message: `This link has been used; it works once.${how ?? ''}` });
  }
  if (!approval || !hasRole(roleIn(caller, approval.teamId), 'operator')) {
    throw new Forbidden({
      message: `You may not decide this any more: your role in ${workspaceName} or in its team has changed.`,
    });
  }
  const { status, expiresAt, frozenMs, deadline, decidedAt, decidedBy } = approval;
  const isOver = (frozenMs === null && expiresAt <= at) || (deadline !== null && deadline <= at);
  if (status === 'expired' || (status === 'pending' && isOver)) {
    throw new ApprovalExpired({
      message: `The time to decide was over on ${inWords(Math.min(expiresAt, deadline ?? expiresAt), timezone)}. Nothing was sent.`,
    });
  }
  if (status !== 'pending') {
    throw new ApprovalAlreadyDecided({
      message: `This has been decided already: ${decidedBy?.name ?? 'Somebody'} ${WORDS[status]} on ${inWords(decidedAt!, timezone)}.`,
      details: { status },
    });
  }
  if (approval.contentHash !== contentHash) {
    throw new ContentChanged({
      message:
        'The draft has been edited since this link was made, so the link to the earlier text does not work any more. A mail with a new link follows each edit by somebody else.',
      details: { contentHash: approval.contentHash },
    });
  }
}

const USES: Record<LinkUse, string> = {
  approve: 'approved the draft',
  answer: 'answered the question',
  reject: 'rejected the draft',
  revise: 'sent the draft back',
  edit: 'saved changes of the draft',
};

const WORDS: Record<Exclude<ApprovalEntity['status'], 'pending' | 'expired'>, string> = {
  approved: 'approved it',
  rejected: 'rejected it',
  changes_requested: 'asked for another draft',
  cancelled: 'cancelled it',
};

function hasLeft(workspaceName: string): Error {
  return new Forbidden({ message: `You are not a member of ${workspaceName} any more.` });
}
