import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { cutText } from '../../platform/kernel/text.js';
import { Work } from '../../platform/work/work.js';
import { inWords } from '../../platform/kernel/local-day.js';
import {
  APPROVERS_MISSING,
  type EscalationChoice,
  type EscalationEntity,
  type EscalationKind,
  EscalationOpened,
  EscalationOptions,
  Escalations,
} from '../escalations/index.js';
import { TELL_MEMBERS } from '../terms/index.js';
import { ApprovalNotices } from './approval-notices.js';
import type { Block } from '../mail/index.js';
import {
  type Addressee,
  type DigestEntry,
  type Message,
  type Notice,
  type NoticeSource,
  NoticeSources,
} from './notice-source.js';

const SOON_MS = 2 * 3_600_000;
/** What has happened, for a person. */
const HAPPENED: Record<EscalationKind, string> = {
  approval_expiring: 'the time of an approval is almost over',
  approval_expired: 'the time of an approval is over',
  packet_failed: 'a work packet failed',
  budget_exceeded: 'a budget is used up',
  connector_red: 'a connection to another system does not work',
  compensation_failed: 'what was done could not be undone',
  kill_unconfirmed: 'the kill switch cut off the sending of a work packet',
  action_unconfirmed: 'an agent has not said what came of an action',
  schedule_paused: 'a schedule could not hand in its directive',
  approvers_missing: 'fewer people may approve something than have to',
};
/** Something outside is in a state that nobody wanted, or that nobody knows. */
const ALWAYS_URGENT: readonly EscalationKind[] = ['kill_unconfirmed', 'compensation_failed'];
const MAX_TITLE = 100;

/** What members are mailed about escalations that a person has to decide. */
@Injectable()
export class EscalationNotices implements NoticeSource, OnModuleInit {
  readonly kinds = ['escalation'] as const;
  readonly setting = 'escalations';

  constructor(
    private readonly work: Work,
    private readonly sources: NoticeSources,
    private readonly opened: EscalationOpened,
    private readonly escalations: Escalations,
    private readonly options: EscalationOptions,
    private readonly approvals: ApprovalNotices,
  ) {}

  onModuleInit(): void {
    this.sources.register(this);
    this.opened.register(({ escalationId }) => this.work.enqueue(TELL_MEMBERS, { id: escalationId }));
  }

  async current(scope: Scope, ids: readonly string[], at: number): Promise<Map<string, Notice>> {
    const open = await this.escalations.openAmong(scope, ids);
    const approvalIds = open.filter(isAboutApproval).map(({ entityId }) => entityId);
    const mayApprove = await this.approvals.mayApprove(scope, approvalIds, at);
    return new Map(
      open.map((escalation) => {
        const { escalationId, teamId, kind, dueAt, entityId } = escalation;
        // Who asked for it, and who may not approve it, can still let others approve.
        const isMissing = kind === APPROVERS_MISSING;
        const about = isAboutApproval(escalation) && !isMissing ? mayApprove.get(entityId) : undefined;
        const notice: Notice = {
          revision: escalationId,
          teamId,
          role: isMissing ? 'admin' : this.options.leastRole(escalation),
          isUrgent: ALWAYS_URGENT.includes(kind) || (dueAt !== null && dueAt < at + SOON_MS),
          onlyTo: about?.mayApprove,
          // The editor is notified: they know the content, but not that nobody has decided.
          notTo: about?.mayNotApprove ?? [],
        };
        return [escalationId, notice];
      }),
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

  async entries(to: Addressee, ids: readonly string[]): Promise<Map<string, DigestEntry>> {
    const entries = new Map<string, DigestEntry>();
    for (const escalation of await this.open(to, ids)) {
      const title = cutText(escalation.reason, MAX_TITLE);
      entries.set(escalation.escalationId, { title, blocks: await this.blocks(to, escalation) });
    }
    return entries;
  }

  private open({ workspaceId }: Addressee, ids: readonly string[]): Promise<EscalationEntity[]> {
    return this.escalations.openAmong({ workspaceId, teamIds: 'all' }, ids);
  }

  private async blocks(to: Addressee, escalation: EscalationEntity): Promise<Block[]> {
    const { escalationId, kind, reason, dueAt, createdAt, count, entityId } = escalation;
    const link = isAboutApproval(escalation) ? await this.approvals.linkTo(to, entityId) : undefined;
    return [
      { kind: 'text', text: reason },
      {
        kind: 'facts',
        facts: [
          ['Since', inWords(createdAt, to.zone)],
          ...(dueAt === null ? [] : [['Until', inWords(dueAt, to.zone)] as const]),
          ...(count > 1 ? [['Stands for', `${count} like it`] as const] : []),
          ['What happened', HAPPENED[kind]],
        ],
      },
      { kind: 'text', text: 'You can choose:' },
      { kind: 'list', items: this.options.choicesOf(escalation).map(choiceInWords) },
      ...(link ? [link] : []),
      {
        kind: 'reference',
        text: 'Read it and choose:',
        url: `${to.publicUrl}/escalations/${escalationId}`,
      },
    ];
  }
}

/** The role only where a reader who may dismiss it could lack it. */
function choiceInWords({ option, effect, role }: EscalationChoice): string {
  const isAdmins = role === 'admin' || role === 'owner';
  return `${option.replaceAll('_', ' ')}: ${effect}${isAdmins ? ` It takes the role ${role}.` : ''}`;
}

function isAboutApproval({ entityType }: Pick<EscalationEntity, 'entityType'>): boolean {
  return entityType === 'approval';
}
