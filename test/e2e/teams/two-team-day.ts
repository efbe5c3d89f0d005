import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { RouteTable } from '../../../src/platform/http/route-table.js';
import { atOnce } from '../../support/at-once.js';
import { Client } from '../../support/client.js';
import type { TestApp, TestMember } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';

/** Letters that no id and no hash contains, so that nothing but a team's own words can be taken for them. */
const MARKS = { Marketing: 'bluqomark', Revenue: 'ziloqurev' } as const;
export type TeamName = keyof typeof MARKS;

/** A team with a member of each role in it, all viewers of the workspace, and every word of theirs marked. */
export class Team {
  private constructor(
    readonly test: TestApp,
    readonly name: TeamName,
    readonly workspaceId: string,
    readonly teamId: string,
    readonly viewer: TestMember,
    readonly operator: TestMember,
    readonly admin: TestMember,
  ) {}

  static async found(test: TestApp, owner: Client, workspaceId: string, name: TeamName): Promise<Team> {
    const mark = MARKS[name];
    const made = await owner.post('/teams', { name: `${name} ${mark}team` });
    expect(made.status, made.text).toBe(201);
    const { teamId } = made.body;
    const member = async (role: 'viewer' | 'operator' | 'admin') => {
      const one = await test.createMember(workspaceId, 'viewer', [teamId]);
      await test.rows('update team_members set role = $2 where member_id = $1', [one.memberId, role]);
      await test.rows(
        `update users set display_name = $2, email = $3 from members m
         where m.user_id = users.user_id and m.member_id = $1`,
        [one.memberId, `${mark}${role}`, `${mark}${role}-${randomUUID().slice(0, 8)}@northwind.example`],
      );
      return one;
    };
    return new Team(
      test,
      name,
      workspaceId,
      teamId,
      await member('viewer'),
      await member('operator'),
      await member('admin'),
    );
  }

  get members(): Record<string, TestMember> {
    const { viewer, operator, admin } = this;
    return { viewer, operator, admin };
  }

  /** A word of this team. */
  word(what: string): string {
    return `${MARKS[this.name]}${what}`;
  }

  get mark(): string {
    return MARKS[this.name];
  }

  desk(member: TestMember): Desk {
    return new Desk(this.test, member.token);
  }

  async order(body: object): Promise<string> {
    const answer = await this.desk(this.admin).client.post('/standing-orders', body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body.standingOrderId;
  }

  /** Hands in without an approval being asked for; orders and the guardian decide. */
  async run(directive: string, capo: string, until: string): Promise<string> {
    const desk = this.desk(this.operator);
    const answer = await desk.client.post('/directives', {
      directive,
      capo,
      requiresApproval: false,
      context: { note: this.word('note') },
    });
    expect(answer.status, answer.text).toBe(201);
    await desk.until(answer.body.directiveId, until);
    return answer.body.directiveId;
  }

  async handIn(text: string, capo?: string): Promise<{ directiveId: string; approval: any }> {
    const desk = this.desk(this.operator);
    const context = { note: this.word('note'), [this.word('key')]: 17 };
    const { directiveId, approval } = await desk.handInReady({ text, context, ...(capo && { capo }) });
    return { directiveId, approval };
  }

  /** A mail that is approved; nobody waits for it to be sent. */
  async mail(what: string): Promise<{ directiveId: string; approvalId: string }> {
    const { directiveId, approval } = await this.handIn(
      `Email ${this.word(what)}@acme.example, subject "The ${this.word('answer')} is here": The ${this.word('answer')} is here.`,
      'capo_ops',
    );
    const approved = await this.desk(this.admin).approve(approval.approvalId);
    expect(approved.status, approved.text).toBe(200);
    return { directiveId, approvalId: approval.approvalId };
  }

  /** What a team does in a day: everything that carries words. */
  async work(): Promise<void> {
    const word = (what: string) => this.word(what);
    const decide = this.desk(this.admin);
    await this.order({
      name: word('allowance'),
      text: `Memos on ${word('pallets')} may be filed.`,
      effect: 'allow',
      match: { actionTypes: ['document.file'] },
    });
    await this.order({
      name: word('denial'),
      text: `Nothing to ${word('rivals')}.`,
      effect: 'deny',
      match: {
        actionTypes: ['email.send'],
        fields: { 'params.to': { $domainIn: [`${word('denied')}.example`] } },
      },
    });
    const paused = await this.order({
      name: word('paused'),
      effect: 'allow',
      match: { actionTypes: ['signal.raise'] },
    });
    await decide.client.post(`/standing-orders/${paused}/pause`);

    // By the consigliere, approved by another member, sent by mail.
    const mail = await this.handIn(
      `Email ${word('jane')}@acme.example, subject "The ${word('pallets')} arrive on Friday": The ${word('pallets')} arrive on Friday.`,
    );
    expect((await decide.approve(mail.approval.approvalId)).status).toBe(200);
    await decide.until(mail.directiveId, 'executed');
    // Within a standing order.
    await this.run(
      `File this memo for the board: The ${word('delays')} end on Friday.`,
      'capo_ops',
      'executed',
    );
    // Against one.
    await this.run(
      `Email jane@${word('denied')}.example, subject "The ${word('prices')} fall": The ${word('prices')} fall.`,
      'capo_ops',
      'failed',
    );
    // Edited, then approved.
    const edited = await this.handIn(
      `Email ${word('joe')}@acme.example, subject "The ${word('offer')} stands": The ${word('offer')} stands.`,
      'capo_ops',
    );
    const add = [
      {
        action: { type: 'document.file', params: { title: word('title'), body: `All of ${word('body')}.` } },
      },
    ];
    const edit = await this.desk(this.operator).edit(
      edited.approval.approvalId,
      { add },
      edited.approval.contentHash,
    );
    expect(edit.status, edit.text).toBe(200);
    // Another member has edited it.
    const read = { 'If-Match': edit.body.contentHash };
    expect((await decide.approve(edited.approval.approvalId, read)).status).toBe(200);
    await decide.until(edited.directiveId, 'executed');
    // Sent back, then rejected.
    const refused = await this.handIn(
      `File this memo for the board: ${word('rumours')} are wrong.`,
      'capo_ops',
    );
    const again = await decide.reject(refused.approval.approvalId, {
      feedback: `Without ${word('rumours')}.`,
      revise: true,
    });
    expect(again.status, again.text).toBe(200);
    await decide.ready(again.body.nextApprovalId);
    expect(
      (await decide.reject(again.body.nextApprovalId, { feedback: `Still ${word('rumours')}.` })).status,
    ).toBe(200);
    // A signal, acknowledged with a note; revenue; a directive handed on.
    const raised = await this.handIn(`Raise a warning signal: the ${word('press')} is slow`, 'capo_ops');
    await decide.approve(raised.approval.approvalId);
    await decide.until(raised.directiveId, 'executed');
    const [signal] = (await decide.client.get('/signals')).body.items;
    const acknowledged = await decide.client.post('/ack', { signalId: signal.signalId, note: word('acked') });
    expect(acknowledged.status, acknowledged.text).toBe(200);
    const booked = await this.handIn(`Record 1200 EUR from ${word('stripe')}`, 'capo_revenue');
    await decide.approve(booked.approval.approvalId);
    await decide.until(booked.directiveId, 'executed');
    const delegated = await this.handIn(
      `Ask ops to file a memo: The ${word('delegation')} starts on Monday.`,
      'ceo',
    );
    await decide.approve(delegated.approval.approvalId);
    await decide.until(delegated.directiveId, 'executed');
    // Withdrawn.
    const { directiveId } = await this.handIn(
      `Email ${word('tom')}@acme.example, subject "Come on ${word('sunday')}": Come on ${word('sunday')}.`,
    );
    expect((await decide.client.post(`/directives/${directiveId}/cancel`)).status).toBe(200);
    // Somebody is invited.
    const invited = await decide.client.post(`/teams/${this.teamId}/members`, {
      email: `${word('newcomer')}@northwind.example`,
      role: 'operator',
    });
    expect(invited.status, invited.text).toBe(201);
    // What stays open.
    await this.handIn(
      `Email ${word('kim')}@acme.example, subject "Wait for ${word('monday')}": Wait for ${word('monday')}.`,
      'capo_ops',
    );
  }

  /** Every id of what belongs to this team, and of its members. */
  async ids(): Promise<string[]> {
    const tables = await this.test.rows<{ name: string }>(
      `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'team_id'
       where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not a.attisdropped`,
    );
    const found = new Set(Object.values(this.members).map(({ memberId }) => memberId));
    for (const { name } of tables) {
      // What the chain says of a team names what others have done too, such as a kill.
      const column = name === 'receipts' ? 'receipt_id' : 'to_jsonb(t)::text';
      const rows = await this.test.rows<{ text: string }>(
        `select ${column} as text from ${name} t where team_id = $1`,
        [this.teamId],
      );
      const ids =
        name === 'receipts'
          ? /rcp_[0-9a-z]{26}/g
          : /\b(?:dir|pkt|apr|doc|sig|so|inv|rev|team)_[0-9a-z]{26}\b/g;
      for (const { text } of rows) for (const [id] of text.matchAll(ids)) found.add(id);
    }
    return [...found];
  }
}

/** What a member may ask about. */
export interface Asked {
  teamId: string;
  memberIds: readonly string[];
  ids: readonly string[];
  /** What revenue of the team is said to come from. */
  source: string;
}

/** Routes that answer with records, of the kinds that have teams. */
const OF_RECORDS = /^(?:dir|apr|pkt|doc|sig|so)_/;

/** Everything that a member can read, in whatever way: lists, single records, searches; by what was asked. */
export async function everythingReadable(
  test: TestApp,
  member: TestMember,
  own: readonly string[],
  others: readonly Asked[],
): Promise<Map<string, string>> {
  const paths = test.app
    .get(RouteTable)
    .entries.filter(({ method, policy }) => method === 'GET' && policy.auth === 'member')
    .flatMap((entry) => entry.paths)
    .filter((path) => path.startsWith('/api/pro/') && !path.endsWith('/stream'));
  const lists = paths.filter((path) => !path.includes(':') && path !== CONTENTS);
  const records = paths.filter((path) => /\/:[^/]+$/.test(path));
  expect([lists.length > 20, records.length > 6]).toEqual([true, true]);
  const recordOf = (id: string) => {
    const path = records.find((one) => one.includes(RECORDS[id.split('_')[0]!]!))!;
    return path.replace(/:[^/]+$/, id);
  };
  const searches = others.flatMap(({ teamId, memberIds, ids, source }) => {
    const of = (prefixes: RegExp) => ids.filter((id) => prefixes.test(id));
    return [
      ...['directives', 'approvals', 'audit-feed'].map((list) => `/${list}?teamId=${teamId}`),
      `/revenue-events?source=${source}`,
      ...memberIds.map((memberId) => `/audit-feed?actor=${memberId}`),
      `${CONTENTS}?ids=${of(/^apr_/).slice(0, 100).join(',')}`,
      ...of(/^dir_/).map((id) => `/work-packets?directiveId=${id}`),
      ...of(/^(?:dir|apr|so)_/).map((id) => `/audit-feed?entity=${id}`),
    ];
  });
  const asked: { path: string; statuses: number[]; findsNothing?: boolean }[] = [
    ...[...lists, ...NARROWED].map((path) => ({ path, statuses: [200, 403] })),
    ...own.filter((id) => OF_RECORDS.test(id)).map((id) => ({ path: recordOf(id), statuses: [200, 404] })),
    ...searches.map((path) => ({ path, statuses: [200], findsNothing: true })),
    ...others.flatMap(({ teamId, ids }) =>
      [`/teams/${teamId}/members`, ...ids.filter((id) => OF_RECORDS.test(id)).map(recordOf)].map((path) => ({
        path,
        statuses: [404],
      })),
    ),
  ];
  const read = new Map<string, string>();
  await atOnce(8, asked, async ({ path, statuses, findsNothing = false }) => {
    const { status, text } = await new Client(test.url, member.token).get(path);
    expect(statuses, `${path}: ${text}`).toContain(status);
    if (findsNothing) expect.soft(text, path).toMatch(/^{"items":\[\]/);
    read.set(path, text);
  });
  return read;
}

/** It answers what its caller names. */
const CONTENTS = '/api/pro/approvals/contents';

/** Where records of a kind are read. */
const RECORDS: Record<string, string> = {
  dir: '/directives/',
  apr: '/approvals/',
  pkt: '/work-packets/',
  doc: '/documents/',
  sig: '/signals/',
  so: '/standing-orders/',
};

const NARROWED = [
  ...['directives', 'work-packets', 'documents', 'revenue-events', 'feed', 'audit-feed'].map(
    (list) => `/${list}?limit=100`,
  ),
  ...['approved', 'rejected', 'changes_requested', 'expired', 'cancelled'].map(
    (status) => `/approvals?limit=100&status=${status}`,
  ),
  '/approvals?limit=100&urgent=true',
  '/signals?limit=100&status=acknowledged',
  ...['draft', 'paused', 'archived'].map((status) => `/standing-orders?limit=100&status=${status}`),
  '/audit-feed?format=jsonl&limit=10000',
  '/audit-feed?format=csv&limit=10000',
  '/audit-feed?capo=capo_ops&limit=100',
  '/audit-feed?action=approval.*&limit=100',
  '/teams?status=archived',
];

/** Where `text` says a word or names an id of the other team. */
export function leaksOf(
  read: ReadonlyMap<string, string>,
  mark: string,
  ids: readonly string[],
): Record<string, string> {
  const leaks: Record<string, string> = {};
  for (const [what, text] of read) {
    const at = text.toLowerCase().indexOf(mark);
    const id = ids.find((one) => text.includes(one));
    if (at >= 0) leaks[what] = text.slice(Math.max(0, at - 80), at + 80);
    else if (id !== undefined) leaks[what] = id;
  }
  return leaks;
}
