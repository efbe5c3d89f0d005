import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { cutText } from '../../platform/kernel/text.js';
import { Work } from '../../platform/work/work.js';
import type { EscalationEntity } from '../escalations/escalation.entity.js';
import type { EscalationKind } from '../escalations/escalation-kinds.js';
import { EscalationOpened } from '../escalations/escalation-opened.js';
import { Escalations } from '../escalations/escalations.repository.js';
import { ApprovalNotices } from './approval-notices.js';
import type { Block } from './blocks.js';
import {
  type Addressee,
  type DigestEntry,
  type Message,
  type Notice,
  type NoticeSource,
  NoticeSources,
} from './notice-source.js';
import { PLAN_WORK } from './plan-notifications.js';
import { inWords } from './quiet-hours.js';

const SOON_MS = 2 * 3_600_000;
/** Something outside is in a state that nobody wanted, or that nobody knows. */
const ALWAYS_URGENT: readonly EscalationKind[] = ['kill_unconfirmed', 'compensation_failed'];
const MAX_TITLE = 100;

/** What members are mailed about escalations that a person has to decide. */
@Injectable()
export class EscalationNotices implements NoticeSource, OnModuleInit {
  readonly kind = 'escalation';
  readonly setting = 'escalations';

  constructor(
    private readonly work: Work,
    private readonly sources: NoticeSources,
    private readonly opened: EscalationOpened,
    private readonly escalations: Escalations,
    private readonly approvals: ApprovalNotices,
  ) {}

  onModuleInit(): void {
    this.sources.register(this);
    this.opened.register(({ escalationId }) => this.work.enqueue(PLAN_WORK, { id: escalationId }));
  }

  async current(scope: Scope, ids: readonly string[], at: number): Promise<Map<string, Notice>> {
    const open = await this.escalations.openAmong(scope, ids);
    return new Map(
      open.map(({ escalationId, teamId, kind, dueAt }) => [
        escalationId,
        {
          revision: escalationId,
          teamId,
          isUrgent: ALWAYS_URGENT.includes(kind) || (dueAt !== null && dueAt < at + SOON_MS),
          notTo: [],
        },
      ]),
    );
  }

  async message(to: Addressee, id: string): Promise<Message | undefined> {
    const [escalation] = await this.open(to, [id]);
    if (!escalation) return undefined;
    const title = cutText(escalation.reason, MAX_TITLE);
    return {
      subject: `A person has to decide: ${title}`,
      blocks: [{ kind: 'heading', text: 'A person has to decide' }, ...(await this.blocks(to, escalation))],
      about: { title, directiveId: escalation.directiveId },
    };
  }

  async entries(to: Addressee, ids: readonly string[]): Promise<DigestEntry[]> {
    const entries: DigestEntry[] = [];
    for (const escalation of await this.open(to, ids)) {
      entries.push({
        title: cutText(escalation.reason, MAX_TITLE),
        blocks: await this.blocks(to, escalation),
      });
    }
    return entries;
  }

  private async open(to: Addressee, ids: readonly string[]): Promise<EscalationEntity[]> {
    const open = await this.escalations.openAmong({ workspaceId: to.workspaceId, teamIds: 'all' }, ids);
    return ids.flatMap((id) => open.filter(({ escalationId }) => escalationId === id));
  }

  private async blocks(to: Addressee, escalation: EscalationEntity): Promise<Block[]> {
    const { escalationId, kind, reason, options, dueAt, createdAt, count, entityType, entityId } = escalation;
    const link = entityType === 'approval' ? await this.approvals.linkTo(to, entityId) : undefined;
    return [
      { kind: 'text', text: reason },
      {
        kind: 'facts',
        facts: [
          ['Since', inWords(createdAt, to.zone)],
          ...(dueAt === null ? [] : [['Until', inWords(dueAt, to.zone)] as const]),
          ...(count > 1 ? [['Stands for', `${count} of the kind`] as const] : []),
          ['Kind', kind.replaceAll('_', ' ')],
          ['You can choose', options.map((option) => option.replaceAll('_', ' ')).join(', ')],
        ],
      },
      ...(link ? [link] : []),
      {
        kind: 'text',
        text: `Decide it with POST /api/pro/escalations/decide; its id is ${escalationId}.`,
      },
    ];
  }
}
