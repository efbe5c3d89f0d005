import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import PostalMime, { type Email } from 'postal-mime';
import { newId } from '../../../src/platform/kernel/ids.js';
import { AdminClient, Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';

export const PASSWORD = 'correct horse battery';

/** A workspace with its owner, who has a token and is signed in. */
export interface Tenant {
  workspaceId: string;
  name: string;
  owner: TestMember;
  admin: AdminClient;
}

/** The owner of the first workspace, and what tests of workspaces do again and again. */
export class TenancyDesk {
  private constructor(
    readonly test: TestApp,
    readonly admin: AdminClient,
  ) {}

  static async open(environment?: Record<string, string>): Promise<TenancyDesk> {
    const test = await startTestApp(environment);
    const [first] = await test.rows<{ member_id: string }>('select member_id from members');
    return new TenancyDesk(test, await test.signIn(first!.member_id));
  }

  /** A workspace that is there without a request. */
  async tenant(): Promise<Tenant> {
    const { workspaceId, owner } = await this.test.createWorkspace();
    const [row] = await this.test.rows<{ name: string }>(
      'select name from workspaces where workspace_id = $1',
      [workspaceId],
    );
    const member = owner as TestMember;
    return { workspaceId, name: row!.name, owner: member, admin: await this.test.signIn(member.memberId) };
  }

  /** Signed in as one who has just signed in, from another address: limits of routes count by it. */
  again({ secret }: AdminClient): AdminClient {
    return new AdminClient(this.test.url, secret);
  }

  /** The text of an export. */
  async export({ admin }: Pick<Tenant, 'admin'>): Promise<string> {
    const answer = await this.again(admin).get('/workspace/export');
    expect(answer.status, answer.text).toBe(200);
    return answer.text;
  }

  /** Exported, and asked to be deleted. */
  async requestDeletion({ admin, name }: Tenant): Promise<void> {
    await this.export({ admin });
    const answer = await this.again(admin).post('/workspace/deletion', { name, confirm: name });
    expect(answer.status, answer.text).toBe(200);
  }

  /** As if the grace were over, and the owners warned. */
  async endGrace(workspaceId: string): Promise<void> {
    await this.test.rows(
      `update workspace_deletions set due_at = now() - interval '1 second', warned_at = now() - interval '1 day'
       where workspace_id = $1`,
      [workspaceId],
    );
  }

  /** The mails whose file begins so, once there are as many. */
  async mails(begin: string, count = 1): Promise<Email[]> {
    const outbox = join(this.test.dataDir, 'outbox');
    const files = await eventually(
      async () => (await readdir(outbox).catch(() => [])).filter((file) => file.startsWith(begin)),
      ({ length }) => length >= count,
    );
    return Promise.all(
      files.toSorted().map(async (file) => PostalMime.parse(await readFile(join(outbox, file)))),
    );
  }

  /** Accepts an invite by the link of its mail; answers the token of the new member. */
  async accept(inviteId: string, displayName = 'Ines Marlow'): Promise<{ memberId: string; token: string }> {
    const [mail] = await this.mails(inviteId);
    const token = /\/invites\/([\w-]{43})/.exec(mail!.text!)![1]!;
    const answer = await new Client(this.test.url, undefined).post('/invites/accept', {
      token,
      displayName,
      password: PASSWORD,
    });
    expect(answer.status, answer.text).toBe(201);
    return { memberId: answer.body.memberId, token: answer.body.token.token };
  }

  /** Tables with rows of workspaces. */
  async tables(): Promise<string[]> {
    const rows = await this.test.rows<{ name: string }>('select name from app.tenant_tables() order by 1');
    return rows.map(({ name }) => name);
  }

  /** Each row of a workspace, and of its people, as text; by table. */
  async stored(workspaceId: string, except: readonly string[] = []): Promise<Record<string, string[]>> {
    const stored: Record<string, string[]> = {};
    for (const table of (await this.tables()).filter((name) => !except.includes(name))) {
      const rows = await this.test.rows<{ row: string }>(
        `select t::text as row from ${table} t where workspace_id = $1 order by 1`,
        [workspaceId],
      );
      stored[table] = rows.map(({ row }) => row);
    }
    const people = await this.test.rows<{ row: string }>(
      'select u::text as row from users u where user_id in (select user_id from members where workspace_id = $1) order by 1',
      [workspaceId],
    );
    return { ...stored, users: people.map(({ row }) => row) };
  }

  /** The receipts of a workspace with this action, as their content. */
  async receipts(workspaceId: string, action: string): Promise<any[]> {
    const rows = await this.test.rows<{ body: string }>(
      'select body from receipts where workspace_id = $1 and action = $2 order by seq',
      [workspaceId, action],
    );
    return rows.map(({ body }) => JSON.parse(body));
  }
}

/** A name that no other test uses. */
export const freshName = (): string => `Northwind ${newId('wks').slice(-8)}`;

/** Status and code of an answer. */
export const code = ({ status, body }: { status: number; body: any }): [number, string | undefined] => [
  status,
  body?.error?.code,
];
