import PostalMime, { type Email } from 'postal-mime';
import type { Role } from '../../../src/platform/auth/caller.js';
import { Escalations, type NewEscalation } from '../../../src/features/escalations/escalations.repository.js';
import { Db } from '../../../src/platform/database/db.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { type MailServer, type MailServerHabits, startMailServer } from '../mail/mail-server.js';

export interface MailedMember extends TestMember {
  email: string;
}

/** A mail about a decision, as its reader has it. */
export interface DecisionMail extends Email {
  to: { address: string; name: string }[];
  /** The links of the mail, in their order. */
  links: string[];
}

/** A workspace whose members have addresses, and the mail server that they are reached by. */
export class NotificationDesk {
  private constructor(
    readonly test: TestApp,
    readonly mail: MailServer,
  ) {}

  static async open(
    habits: MailServerHabits = {},
    environment: Record<string, string> = {},
  ): Promise<NotificationDesk> {
    const mail = await startMailServer(habits);
    const test = await startTestApp({
      SMTP_URL: mail.url,
      MAIL_FROM: 'Consigliere <consigliere@northwind.example>',
      ...environment,
    });
    return new NotificationDesk(test, mail);
  }

  async close(): Promise<void> {
    await this.test.close();
    await this.mail.close();
  }

  /** A workspace with an owner who can be mailed. */
  async workspace(): Promise<{ workspaceId: string; owner: MailedMember }> {
    const { workspaceId, owner } = await this.test.createWorkspace();
    return { workspaceId, owner: await this.reachable(owner as TestMember) };
  }

  async member(workspaceId: string, role: Role, teamIds: string[] = []): Promise<MailedMember> {
    return this.reachable(await this.test.createMember(workspaceId, role, teamIds));
  }

  desk(member: TestMember): Desk {
    return new Desk(this.test, member.token);
  }

  /** Opens an escalation, one that any operator may dismiss unless said; answers its id. */
  escalate(workspaceId: string, escalation: Partial<NewEscalation> = {}): Promise<string> {
    return this.test.app.get(Db).transaction({ workspaceId, teamIds: 'all' }, () =>
      this.test.app.get(Escalations).open({
        kind: 'connector_red',
        entity: { type: 'connector', id: newId('con') },
        teamId: null,
        reason: 'The mail server has refused its password three times.',
        options: ['dismiss'],
        dueAt: null,
        ...escalation,
      }),
    );
  }

  /** The mails to this address so far, oldest first. */
  async mails(email: string): Promise<DecisionMail[]> {
    const received = this.mail.received.filter(({ to }) => to.includes(email));
    return Promise.all(received.map(({ bytes }) => parse(bytes)));
  }

  /** The mails to this address once there are so many. */
  async mailed(email: string, count = 1): Promise<DecisionMail[]> {
    return eventually(
      () => this.mails(email),
      (mails) => mails.length >= count,
    );
  }

  /** Once nothing is left to be planned or sent now. */
  async quiet(): Promise<void> {
    await eventually(
      () =>
        this.test.rows(
          `select kind, id from work_items where kind like 'notification.%' and due_at < now() + interval '1 minute'`,
        ),
      (items) => items.length === 0,
    );
  }

  /** The workers look at what waits for the clock of the test, which their database does not follow. */
  async look(): Promise<void> {
    // What an attempt that is still under way reschedules would wait by the clock from before.
    await eventually(
      () => this.test.rows(`select 1 from work_items where kind = 'notification.send' and claimed`),
      (claimed) => claimed.length === 0,
    );
    await this.test.rows(`update work_items set due_at = now() where kind = 'notification.send'`);
  }

  async notifications(memberId: string) {
    return this.test.rows<{ status: string; reason: string | null; entity_id: string; revision: string }>(
      'select * from notifications where member_id = $1 order by created_at, notification_id',
      [memberId],
    );
  }

  private async reachable(member: TestMember): Promise<MailedMember> {
    const email = `${member.memberId.slice(-8)}@northwind.example`;
    await this.test.rows(
      'update users set email = $2 where user_id = (select user_id from members where member_id = $1)',
      [member.memberId, email],
    );
    return Object.assign(member, { email });
  }
}

async function parse(bytes: Buffer): Promise<DecisionMail> {
  const mail = (await PostalMime.parse(bytes)) as DecisionMail;
  const links = [...(mail.text ?? '').matchAll(/<(https?:\/\/[^>\s]+\/a\/[^>\s]+)>/g)].map(
    ([, link]) => link!,
  );
  return Object.assign(mail, { links });
}

/** Opens the page of a link, or sends one of its forms, as a browser without any script. */
export class LinkReader {
  readonly #address = new Client('', undefined).address;

  get(url: string, headers: Record<string, string> = {}): Promise<PageAnswer> {
    return this.send(url, { headers });
  }

  post(
    url: string,
    form: Record<string, string> | string,
    headers: Record<string, string> = {},
  ): Promise<PageAnswer> {
    return this.send(url, { method: 'POST', body: new URLSearchParams(form), headers });
  }

  private async send(url: string, { headers, ...request }: RequestInit): Promise<PageAnswer> {
    const answer = await fetch(url, {
      ...request,
      redirect: 'manual',
      headers: { 'X-Forwarded-For': this.#address, ...(headers as Record<string, string>) },
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }
}

export interface PageAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** The words of a page or of the HTML of a mail, as a reader sees them. */
export function wordsOfHtml(html: string): string {
  return plain(html.replace(/<(head|style|title)\b[^]*?<\/\1>/g, ' ').replace(/<[^>]*>/g, ' '));
}

function plain(html: string): string {
  return html
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

/** The fields of the form on a page as a browser would send them, and where it sends them to. */
export function formOf({ text }: PageAnswer, url: string): { url: string; fields: Record<string, string> } {
  const [, action = ''] = /<form method="post"(?: action="([^"]*)")?>/.exec(text) ?? [];
  const [form] = /<form [^]*<\/form>/.exec(text) ?? [''];
  const fields: Record<string, string> = {};
  for (const [, name, value] of form!.matchAll(/<input [^>]*name="([^"]*)"[^>]* value="([^"]*)"/g))
    fields[plain(name!)] = plain(value!);
  for (const [, name, value] of form!.matchAll(/<textarea [^>]*name="([^"]*)"[^>]*>\n?([^]*?)<\/textarea>/g))
    fields[plain(name!)] = plain(value!).replaceAll('\n', '\r\n');
  return { url: new URL(action, url).href, fields };
}

/** Words and numbers alone, in their order. */
export function wordsIn(text: string): string[] {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_-]*/gu) ?? [];
}
