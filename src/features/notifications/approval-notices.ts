import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { inWords } from '../../platform/kernel/local-day.js';
import {
  CurrentApprovals,
  HoldupsReader,
  type ShownApproval,
  type WaitingApproval,
  isUrgent,
  viewOf,
} from '../approvals/index.js';
import { type Block, oneLine } from '../mail/index.js';
import { tokenOf, DecisionLinks } from './decision-links.repository.js';
import { authorOf, draftBlocks, factBlocks, isFromOutside, MAIL_BOUND } from './draft-blocks.js';
import {
  type Addressee,
  type DigestEntry,
  type Message,
  type Notice,
  type NoticeSource,
  NoticeSources,
} from './notice-source.js';

/** So many work packets are named in a digest. */
const PACKETS_LISTED = 5;

/** What members are mailed about approvals that wait for them. */
@Injectable()
export class ApprovalNotices implements NoticeSource, OnModuleInit {
  readonly kinds = ['approval'] as const;
  readonly setting = 'approvals';

  constructor(
    private readonly sources: NoticeSources,
    private readonly approvals: CurrentApprovals,
    private readonly holdups: HoldupsReader,
    private readonly links: DecisionLinks,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.sources.register(this);
  }

  async current(scope: Scope, ids: readonly string[], at: number): Promise<Map<string, Notice>> {
    const waiting = await this.approvals.waiting(scope, ids, at);
    return new Map(waiting.map((approval) => [approval.approvalId, noticeOf(approval, at)]));
  }

  /** By approval: the only members who may still approve it, if it matters who they are, and those who may not whatever their role. */
  async mayApprove(
    scope: Scope,
    ids: readonly string[],
    at: number,
  ): Promise<Map<string, Pick<WaitingApproval, 'mayApprove' | 'mayNotApprove'>>> {
    const waiting = ids.length === 0 ? [] : await this.approvals.waiting(scope, ids, at);
    return new Map(waiting.map((approval) => [approval.approvalId, approval]));
  }

  async message(to: Addressee, id: string): Promise<Message | undefined> {
    const [approval] = await this.views(to, [id]);
    if (!approval) return undefined;
    const { kind, title, urgent, directiveId } = approval.view;
    const author = authorOf(approval.view);
    return {
      subject: `${urgent ? 'Urgent, waits for you' : 'Waits for you'}: ${title}`,
      blocks: [
        { kind: 'heading', text: title },
        {
          kind: 'text',
          text:
            kind === 'question'
              ? `${author} asks people in ${oneLine(to.workspaceName)} and waits for an answer.`
              : kind === 'action'
                ? `${author} asks in ${oneLine(to.workspaceName)} to do this once. It may not unless somebody approves it.`
                : `${author} has made a draft in ${oneLine(to.workspaceName)}. None of it is carried out unless somebody approves it.`,
        },
        ...factBlocks(approval.view, to),
        ...draftBlocks(approval.view, { bound: MAIL_BOUND }),
        approval.link,
        {
          kind: 'text',
          text: 'The link is for you alone, works once, and only until somebody decides, the draft is edited or the time is over. Opening it decides nothing: the page shows the complete draft and asks.',
        },
      ],
      about: { title, directiveId },
    };
  }

  async entries(to: Addressee, ids: readonly string[]): Promise<Map<string, DigestEntry>> {
    const approvals = await this.views(to, ids);
    return new Map(approvals.map(({ view, link }) => [view.approvalId, entryOf(view, link, to)]));
  }

  /** The member's link to an approval that can be decided; undefined when it is decided. */
  async linkTo(to: Addressee, id: string): Promise<Block | undefined> {
    const [approval] = await this.views(to, [id]);
    return approval?.link;
  }

  /** The approvals as they stand, each with the member's link to it. */
  private async views(
    to: Addressee,
    ids: readonly string[],
  ): Promise<{ view: ShownApproval; link: Block }[]> {
    const { workspaceId } = to;
    const scope = { workspaceId, teamIds: 'all' } as const;
    const at = this.clock.now();
    const approvals = await this.approvals.whole(scope, ids, at);
    const bound = approvals.map(({ approvalId, contentHash }) => ({ approvalId, contentHash: contentHash! }));
    const links = await this.links.make(to, bound, at);
    const holdups = await this.holdups.read(scope);
    return ids.flatMap((id) => {
      const approval = approvals.find(({ approvalId }) => approvalId === id);
      const link = links.find(({ approvalId }) => approvalId === id);
      if (!approval || !link) return [];
      const url = `${to.publicUrl}/a/${tokenOf(link, this.secrets)}`;
      return [
        {
          view: viewOf(approval, at, holdups),
          link: { kind: 'link', words: 'Read it and decide', url } as const,
        },
      ];
    });
  }
}

export function noticeOf(approval: WaitingApproval, at: number): Notice {
  return {
    revision: approval.contentHash!,
    teamId: approval.teamId,
    role: 'operator',
    isUrgent: isUrgent(approval, at),
    onlyTo: approval.mayApprove,
    notTo: [...approval.mayNotApprove, ...approval.editedBy],
  };
}

function entryOf(approval: ShownApproval, link: Block, { zone }: Addressee): DigestEntry {
  const { title, urgent, packets, summary, risk, expiresAt } = approval;
  const named = packets.map((packet) => packet.title).slice(0, PACKETS_LISTED);
  return {
    title: urgent ? `Urgent: ${title}` : title,
    blocks: [
      {
        kind: 'facts',
        facts: [
          [isFromOutside(approval) ? 'Asked for by' : 'Drafted by', authorOf(approval)],
          ['What', named.join('; ') || summary],
          ['Risk', risk],
          ['Expires', inWords(expiresAt, zone)],
        ],
      },
      link,
    ],
  };
}
