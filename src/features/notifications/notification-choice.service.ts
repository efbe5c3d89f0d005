import { Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { actorOf, type Caller, hasRole, scopeOf, seesWholeWorkspace } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isReachable } from '../../platform/kernel/mail-address.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import type { Block } from '../mail/index.js';
import { Members, Teams, Workspaces } from '../workspaces/index.js';
import { NotificationChoices } from './notification-choices.repository.js';
import { choiceOf, NO_CHOICE, type OwnChoice } from './notification-choice.js';
import type { ChangeNotificationChoices, NotificationChoicesView } from './notification-choices.dto.js';

/** The member who chooses. */
type Chooser = Pick<Caller, 'workspaceId' | 'memberId' | 'name' | 'email' | 'role' | 'teamIds' | 'via'>;

/** A member whom reports are mailed to. */
export interface ReportReader {
  memberId: string;
  name: string;
  address: string;
  wantsNone: boolean;
  isActive: boolean;
  /** Whose report they may read: everybody's, or that of these teams; of none: no report at all (docs/decisions/0060). */
  reads: 'all' | readonly { teamId: string; name: string }[];
  unsubscribeUrl: string;
}

/** The mails that a reader can end by their link: those about many things. A mail about one thing, a kill or an account has none. */
const LISTS = { d: 'digests', r: 'reports' } as const;

type MailList = (typeof LISTS)[keyof typeof LISTS];

/** What a reader chooses of such mails. */
export type ListChoice = 'none' | 'urgent' | 'all';

/** What a link is about, as it stands now. */
export interface Subscription {
  list: MailList;
  memberName: string;
  workspaceName: string;
  chosen: ListChoice;
}

interface Link {
  workspaceId: string;
  memberId: string;
  list: MailList;
}

const TOKEN = /^([dr])([0-7][0-9a-hjkmnp-tv-z]{25})([0-7][0-9a-hjkmnp-tv-z]{25})([0-9a-f]{64})$/;

const PURPOSE = 'unsubscribe links';

/** What members choose to be mailed, over the settings of the workspace. */
@Injectable()
export class NotificationChoiceService {
  constructor(
    private readonly choices: NotificationChoices,
    private readonly workspaces: Workspaces,
    private readonly receipts: Receipts,
    private readonly members: Members,
    private readonly teams: Teams,
    private readonly db: Db,
    private readonly secrets: SecretBox,
    private readonly address: PublicAddress,
  ) {}

  async read(caller: Chooser): Promise<NotificationChoicesView> {
    return this.view(caller, await this.choices.of(caller));
  }

  async change(caller: Chooser, body: ChangeNotificationChoices): Promise<NotificationChoicesView> {
    const before = await this.choices.of(caller);
    const { quietHours } = body;
    const after: OwnChoice = {
      approvals: body.approvals === undefined ? before.approvals : body.approvals,
      escalations: body.escalations === undefined ? before.escalations : body.escalations,
      reports: body.reports === undefined ? before.reports : body.reports,
      quietHours:
        quietHours === undefined
          ? before.quietHours
          : quietHours && { from: quietHours.from, to: quietHours.to },
      atAnyHour: body.atAnyHour ?? before.atAnyHour,
    };
    if (!isDeepStrictEqual({ ...before }, after)) {
      this.choices.save(caller, after);
      this.receipts.append({
        actor: actorOf(caller),
        action: 'notifications.chosen',
        entity: { type: 'member', id: caller.memberId },
        summary: `${caller.name} chose what they are mailed.`,
        details: { old: before, new: after },
      });
    }
    return this.view(caller, after);
  }

  /**
   * Whether those whom reports would be mailed to want them, and may read them: the members with this address or one of these
   * ids, also those who were removed; in the open transaction.
   */
  async reportReaders(
    scope: Scope,
    who: { address: string | null; memberIds: readonly string[] },
  ): Promise<ReportReader[]> {
    const { workspaceId } = scope;
    const members = await this.members.addressed(workspaceId, who);
    if (members.length === 0) return [];
    const settings = await this.workspaces.settings(scope);
    const own = await this.choices.ofAll(
      workspaceId,
      members.map(({ memberId }) => memberId),
    );
    const hasTeams = await this.teams.areThere(workspaceId);
    return members.map((member) => {
      const { memberId, name, email: address, isActive, teams } = member;
      const { reports } = choiceOf(settings, own.get(memberId) ?? NO_CHOICE);
      return {
        memberId,
        name,
        address,
        wantsNone: reports === 'none',
        isActive,
        reads: !hasTeams || seesWholeWorkspace(member) ? 'all' : teams,
        unsubscribeUrl: this.unsubscribeUrl({ workspaceId, memberId, list: 'reports' }),
      };
    });
  }

  /**
   * The link that ends a kind of mail: it names list, workspace and member, with a code over them that only this service can
   * make; it opens nothing else, and is good as long as the member is there.
   */
  unsubscribeUrl(link: Link): string {
    const ids = link.workspaceId.slice('wks_'.length) + link.memberId.slice('mem_'.length);
    return `${this.address.url}/unsubscribe/${link.list[0]}${ids}${this.codeOf(link).toString('hex')}`;
  }

  /**
   * Ends a kind of mail for the member whom it was mailed to (docs/decisions/0041); undefined where the member has left.
   * @param choice left out: nothing is changed
   * @throws NotFound for what is no link of ours
   */
  async byLink(token: string, choice?: ListChoice): Promise<Subscription | undefined> {
    const { workspaceId, memberId, list } = this.linkOf(token);
    const scope = { workspaceId, teamIds: 'all' } as const;
    return this.db.transaction(scope, async () => {
      const member = await this.members.standing(workspaceId, memberId);
      if (!member) return undefined;
      const body = choice === undefined ? {} : changeOf(list, choice);
      const { effective } = await this.change({ ...member, via: 'link' }, body);
      const { name } = await this.workspaces.settings(scope);
      return { list, memberName: member.name, workspaceName: name, chosen: chosenOf(list, effective) };
    });
  }

  private async view(caller: Chooser, own: OwnChoice): Promise<NotificationChoicesView> {
    const settings = await this.workspaces.settings(scopeOf(caller));
    return {
      address: isReachable(caller.email) ? caller.email : null,
      timezone: settings.timezone,
      own,
      effective: choiceOf(settings, own),
      mailed: hasRole(caller.role, 'admin') ? await this.choices.mailed(scopeOf(caller), settings) : null,
    };
  }

  private linkOf(token: string): Link {
    const [, list, workspace, member, code] = TOKEN.exec(token) ?? [];
    const link = code && {
      workspaceId: `wks_${workspace}`,
      memberId: `mem_${member}`,
      list: LISTS[list as keyof typeof LISTS],
    };
    if (!link || !timingSafeEqual(Buffer.from(code, 'hex'), this.codeOf(link)))
      throw new NotFound({ message: 'This link is invalid. Copy the whole link from the mail.' });
    return link;
  }

  private codeOf({ workspaceId, memberId, list }: Link): Buffer {
    return this.secrets.code([workspaceId, memberId, list].join('\n'), PURPOSE);
  }
}

/** The end of a mail that can be ended by a link. */
export function unsubscribeBlocks(url: string | undefined): Block[] {
  return url === undefined
    ? []
    : [{ kind: 'reference', text: 'How to end these mails, without signing in:', url }];
}

function changeOf(list: MailList, choice: ListChoice): ChangeNotificationChoices {
  if (list === 'digests') return { approvals: choice, escalations: choice };
  return { reports: choice === 'none' ? 'none' : 'all' };
}

function chosenOf(list: MailList, { approvals, escalations, reports }: NotificationChoicesView['effective']) {
  if (list === 'reports') return reports;
  if (approvals === 'none' && escalations === 'none') return 'none';
  return approvals === 'urgent' && escalations === 'urgent' ? 'urgent' : 'all';
}
