import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import type { Block } from '../mail/index.js';
import { Members, Workspaces } from '../workspaces/index.js';
import { ChooseNotifications } from './choose-notifications.js';
import type { ChangeNotificationChoices, NotificationChoicesView } from './notification-choices.dto.js';

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

/**
 * Ends a kind of mail for the member whom it was mailed to (docs/decisions/0041). The secret of the link names list, workspace and
 * member, and a code over them that only this service can make; it opens nothing else, and is good as long as the member is there.
 */
@Injectable()
export class Unsubscribe {
  constructor(
    private readonly db: Db,
    private readonly members: Members,
    private readonly workspaces: Workspaces,
    private readonly chooseNotifications: ChooseNotifications,
    private readonly secrets: SecretBox,
    private readonly address: PublicAddress,
  ) {}

  urlFor(link: Link): string {
    const ids = link.workspaceId.slice('wks_'.length) + link.memberId.slice('mem_'.length);
    return `${this.address.url}/unsubscribe/${link.list[0]}${ids}${this.codeOf(link).toString('hex')}`;
  }

  /**
   * Undefined where the member has left.
   * @param choice left out: nothing is changed
   * @throws NotFound for what is no link of ours
   */
  async execute(token: string, choice?: ListChoice): Promise<Subscription | undefined> {
    const { workspaceId, memberId, list } = this.read(token);
    const scope = { workspaceId, teamIds: 'all' } as const;
    return this.db.transaction(scope, async () => {
      const member = await this.members.standing(workspaceId, memberId);
      if (!member) return undefined;
      const body = choice === undefined ? {} : changeOf(list, choice);
      const { effective } = await this.chooseNotifications.execute({ ...member, via: 'link' }, body);
      const { name } = await this.workspaces.settings(scope);
      return { list, memberName: member.name, workspaceName: name, chosen: chosenOf(list, effective) };
    });
  }

  private read(token: string): Link {
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
