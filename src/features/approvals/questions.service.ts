import { Injectable, type OnModuleInit } from '@nestjs/common';
import { actorOf, type Caller, onlyOf, peopleBehind, scopeOf } from '../../platform/auth/caller.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { type ApprovalSubject, ApprovalSubjects } from './approval-subjects.js';
import { AwaitChange } from './waiting.js';
import { faultsOfSchema } from './question.js';
import { Questions, type ShownQuestion } from './questions.repository.js';
import { RequestApproval } from './request-approval.js';
import { type GuardianEntity, Guardians, isHalted } from '../guardian/index.js';
import { haltedIn } from '../terms/index.js';
import { AskingToken, TooManyPending } from '../workspaces/index.js';
import type { CreateQuestionBody } from './questions.dto.js';

/** People are told of a shorter question once, when it is asked: another mail that it is about to expire would come with the first. */
const ESCALATES_FROM_MS = 3_600_000;

const refuse = (message: string) => () => Promise.reject(new InvalidTransition({ message }));

/** A question has no state besides its approval, so a decision has nothing else to change. */
const SUBJECT: ApprovalSubject = {
  approved: () => Promise.resolve(null),
  rejected: () => Promise.resolve(null),
  expired: () => Promise.resolve(),
  status: () => Promise.resolve(null),
  edit: refuse('A question cannot be edited. Answer it, or reject it.'),
  assertRevisable: refuse(
    'A question cannot be sent back. Reject it with a reason, which the agent is told; it may ask again.',
  ),
  changesRequested: () => Promise.reject(new Error('a question has no other draft')),
};

/** What agents from outside ask people (CONTRACT section 7). */
@Injectable()
export class QuestionsService implements OnModuleInit {
  constructor(
    private readonly clock: Clock,
    private readonly questions: Questions,
    private readonly requestApproval: RequestApproval,
    private readonly awaitChange: AwaitChange,
    private readonly guardians: Guardians,
    private readonly asking: AskingToken,
    private readonly subjects: ApprovalSubjects,
  ) {}

  onModuleInit(): void {
    this.subjects.register('question', SUBJECT);
  }

  /** @throws ValidationFailed, Forbidden, NotFound for a team, AlreadyExists for another question of this name, GuardianHalted, TooManyPending */
  async create(
    caller: Caller,
    body: CreateQuestionBody,
  ): Promise<{ question: ShownQuestion; isNew: boolean }> {
    const { workspaceId } = caller;
    const { title, answerSchema, reason = null } = body;
    const faults = faultsOfSchema(answerSchema);
    if (faults.length > 0) throw new ValidationFailed({ details: faults });
    const { former, also, isFull, teamId, expiresInMs, ...asked } = await this.asking.admit<ShownQuestion>(
      caller,
      {
        ...body,
        content: { title, answerSchema, reason },
        byExternalId: (root, id) => this.questions.byExternalIdStatement(workspaceId, root, id),
        pending: (root, limit) => this.questions.pendingStatement(workspaceId, root, limit),
        hashOf: ({ question }) => question.requestHash,
      },
      [this.guardians.lockSharedStatement(workspaceId)],
    );
    if (former) return { question: former, isNew: false };
    const [[guardian]] = also as [[GuardianEntity]];
    if (isHalted(guardian.mode)) throw haltedIn(guardian.mode);

    if (isFull) throw new TooManyPending();
    const requestedBy = actorOf(caller);
    const { name } = requestedBy;
    const agent = caller.agent?.name ?? null;
    const expiresAt = this.clock.now() + expiresInMs;
    const question = { ...asked, title, answerSchema, reason, agent };
    const about = {
      approvalId: newId('apr'),
      questionId: newId('qst'),
      question,
      workspaceId,
      teamId,
      // Our words: it stands in subjects, headings and lists, where the agent's would pass for ours.
      title: `Question from ${name}`,
      requestedBy,
      requesterIds: peopleBehind(caller),
    };
    const approval = this.requestApproval.askForAgent(about, {
      summary: `${name} asks: ${title}`,
      risk: 'low',
      reversibility: 'read_only',
      packets: [],
      contentHash: sha256(canonicalJson({ title, answerSchema, reason, agent })),
      policy: { outcome: 'require_approval', explanation: [] },
      expiresAt,
      onExpiry: expiresInMs < ESCALATES_FROM_MS ? 'reject' : 'escalate',
      selfApproval: true,
      quorum: 1,
      approvers: [],
    });
    return { question: { ...approval, questionId: about.questionId, question, expiresAt }, isNew: true };
  }

  /** The question, once it has ended or the time to wait is over. @throws NotFound, also for what another agent asked */
  async read(caller: Caller, questionId: string, waitSeconds: number): Promise<ShownQuestion> {
    const find = () => this.questions.find(scopeOf(caller), questionId, onlyOf(caller));
    const found = await find();
    if (!found) throw new NotFound();
    if (waitSeconds === 0) return found;
    const waited = { topic: 'approval', id: found.approvalId, waitSeconds };
    return this.awaitChange.until(waited, find, ({ status }) => status !== 'pending');
  }

  /** @throws NotFound, Forbidden unless the caller asked or is an operator there, InvalidTransition for what has ended otherwise */
  async cancel(caller: Caller, questionId: string): Promise<ShownQuestion> {
    const { workspaceId } = caller;
    const approval = await this.questions.lock(workspaceId, questionId);
    if (!approval) throw new NotFound();
    const { tokenRootId } = approval.question;
    this.asking.assertMayCancel(caller, { tokenRootId, teamId: approval.teamId });
    if (approval.status === 'pending') {
      this.requestApproval.withdraw(approval, actorOf(caller), `${caller.name} took it back`);
    } else if (approval.status !== 'cancelled') {
      throw new InvalidTransition({ message: 'Only an open question can be cancelled.' });
    }
    return (await this.questions.lock(workspaceId, questionId))!;
  }
}
