import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { newId } from '../../platform/kernel/ids.js';
import { isReachable } from '../../platform/kernel/mail-address.js';
import { cutText } from '../../platform/kernel/text.js';
import { withoutUnseen } from '../../platform/kernel/unseen.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { WorkError } from '../../platform/work/work-item.js';
import { type MailMessage, mailOf, MailFailed, Mailer, summaryOfMail } from '../mail/index.js';
import {
  MODEL,
  ModelBudget,
  type ModelClient,
  type Paid,
  RunnerFailed,
  faultsOfAnswer,
  isPaid,
  object,
  paidBefore,
} from '../capos/index.js';
import { NO_COST } from '../terms/index.js';
import { FirstStepsReader } from './first-steps.reader.js';
import type { SetupFinding, SetupView } from './setup.dto.js';

/** The mail by which a person sees that mail reaches them. */
export function testMail(id: string, email: string, publicUrl: string): MailMessage {
  const mail = mailOf('Test mail (Consigliere)', [
    { kind: 'heading', text: 'Mail works' },
    { kind: 'text', text: 'You asked Consigliere for this mail to see that mail reaches you.' },
    { kind: 'link', words: 'Go on to Consigliere', url: `${publicUrl}/` },
  ]);
  return { id, to: [email], ...mail };
}

/** A person waits for the answer. */
const MAIL_MS = 20_000;
const MODEL_MS = 30_000;
const MAX_ANSWER = 300;
const WRITTEN_TO_FILES = 'Mail is written to files in DATA_DIR/outbox and reaches nobody.';
const ADDRESS_LINES = 'PUBLIC_URL=https://consigliere.example.com';
const MAIL_LINES =
  'SMTP_URL=smtps://user:password@mail.example.com:465\nMAIL_FROM="Consigliere <consigliere@your-domain.example>"';
const MODEL_LINES = 'MODEL_PROVIDER=anthropic\nMODEL_API_KEY=sk-...\nMODEL_NAME=claude-sonnet-4-5';

const NOTHING_PAID: Paid = { engine: null, cost: NO_COST };

const Answer = z.object({ sentence: z.string().min(1) });

/** What a person who has just installed the service wants to know of it. */
@Injectable()
export class Setup {
  constructor(
    private readonly db: Db,
    private readonly firstSteps: FirstStepsReader,
    private readonly config: Config,
    private readonly address: PublicAddress,
    private readonly mailer: Mailer,
    @Inject(MODEL) private readonly model: ModelClient | null,
    private readonly budget: ModelBudget,
    private readonly receipts: Receipts,
  ) {}

  async read(caller: Caller): Promise<SetupView> {
    return {
      address: this.addressFinding(),
      mail: this.mailFinding(),
      model: this.modelFinding(),
      isReachable: isReachable(caller.email),
      steps: await this.firstSteps.read(scopeOf(caller)),
    };
  }

  /** Sends a mail to the caller, at once and once. */
  async testMail(caller: Caller): Promise<SetupFinding> {
    const { email } = caller;
    const message = testMail(newId('msg'), email, this.address.url);
    try {
      const { transport } = await this.mailer.send(message, AbortSignal.timeout(MAIL_MS));
      const summary = summaryOfMail(
        transport,
        `A test mail to ${email}`,
        `A test mail was sent to ${email}.`,
      );
      await this.record(caller, 'setup.mail_tested', summary);
      if (transport === 'file') return this.mailFinding();
      const found = isReachable(email)
        ? `The mail server accepted a mail to ${email}. Look into that mailbox.`
        : `The mail server accepted a mail to ${email}, where nobody receives mail.`;
      return { works: true, found, remedy: null };
    } catch (error) {
      if (!(error instanceof MailFailed)) throw error;
      const summary = `A test mail to ${email} could not be sent. ${error.message}`;
      await this.record(caller, 'setup.mail_tested', summary, { error: error.workError });
      return { works: false, found: error.message, remedy: MAIL_LINES };
    }
  }

  /** Asks the model for one sentence; what that costs counts like any other question. */
  async testModel(caller: Caller): Promise<SetupFinding> {
    if (!this.model) return this.modelFinding();
    const { provider: name, model } = this.model.options;
    const engine = { name, model };
    const question = {
      workspaceId: caller.workspaceId,
      name: 'test',
      instructions:
        'Answer with one JSON object whose "sentence" says in one short sentence that you are ready.',
      data: 'Are you ready?',
      schema: object({ sentence: { type: 'string' } }),
      maxTokens: 1_000,
      timeoutMs: MODEL_MS,
      read: (value: unknown) => {
        const parsed = Answer.safeParse(value);
        return parsed.success
          ? { ok: true as const, answer: parsed.data }
          : { ok: false as const, faults: faultsOfAnswer(parsed.error) };
      },
    };
    try {
      const { answer, cost } = await this.model.ask(question, { signal: new AbortController().signal });
      await this.record(caller, 'setup.model_tested', `The model ${model} was tested.`, {
        paid: { engine, cost },
      });
      const sentence = cutText(withoutUnseen(answer.sentence), MAX_ANSWER);
      return { works: true, found: `The model ${model} answered: ${sentence}`, remedy: null };
    } catch (error) {
      if (!(error instanceof RunnerFailed)) throw error;
      const { code, message } = error;
      const paid = { engine, cost: paidBefore(error).cost };
      const summary = `A test of the model ${model} failed. ${message}`;
      await this.record(caller, 'setup.model_tested', summary, { error: { code, message }, paid });
      return { works: false, found: error.message, remedy: MODEL_LINES };
    }
  }

  private addressFinding(): SetupFinding {
    const { url } = this.address;
    if (this.config.publicUrl !== undefined)
      return { works: true, found: `Links in mails start with ${url}.`, remedy: null };
    const found = `Links in mails start with ${url}, the address that the service listens on. People on other machines may not reach it.`;
    return { works: false, found, remedy: ADDRESS_LINES };
  }

  private mailFinding(): SetupFinding {
    const { mailTransport, mailFrom } = this.config;
    if (mailTransport === 'file') return { works: false, found: WRITTEN_TO_FILES, remedy: MAIL_LINES };
    const works = isReachable(mailFrom.replaceAll(/^.*<|>$/g, ''));
    const found = `Mail leaves through the mail server, from ${mailFrom}.`;
    if (works) return { works, found, remedy: null };
    return {
      works,
      found: `${found} Mail servers refuse that address or mark it as spam.`,
      remedy: MAIL_LINES.split('\n')[1]!,
    };
  }

  private modelFinding(): SetupFinding {
    const { modelProvider, modelName } = this.config;
    if (modelProvider !== 'builtin')
      return { works: true, found: `Drafts are made by the model ${modelName}.`, remedy: null };
    const found =
      'Drafts are made by the built-in runner: what stands in quotation marks is sent word for word, and what is only described is left for you to word.';
    return { works: true, found, remedy: MODEL_LINES };
  }

  /** In a transaction of its own: what was sent or paid for is so already. */
  private record(
    caller: Caller,
    action: 'setup.mail_tested' | 'setup.model_tested',
    summary: string,
    { error, paid = NOTHING_PAID }: { error?: WorkError | undefined; paid?: Paid } = {},
  ): Promise<void> {
    const { workspaceId } = caller;
    return this.db.transaction({ workspaceId, teamIds: 'all' }, async () => {
      const receipt = {
        actor: actorOf(caller),
        action,
        entity: { type: 'workspace', id: workspaceId },
        summary,
        ...(error && { outcome: 'failure' as const, details: { error } }),
      };
      if (isPaid(paid)) this.budget.charge(receipt, paid);
      else this.receipts.append(receipt);
    });
  }
}
