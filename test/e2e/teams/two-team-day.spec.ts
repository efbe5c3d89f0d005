import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BriefingReader } from '../../../src/features/capos/briefing.reader.js';
import { Directives } from '../../../src/features/directives/directives.repository.js';
import { Client } from '../../support/client.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { StreamReader } from '../audit/stream-reader.js';
import { Desk } from '../directives/desk.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';
import { type Asked, everythingReadable, leaksOf, Team, type TeamName } from './two-team-day.js';

/**
 * One workspace, two teams, one day: everything that either of them writes is marked, and none of it, nor an id of it, is
 * found in anything that a member of the other team can come by.
 */
let test: TestApp;
let workspaceId: string;
let owner: TestMember;
let mails: MailServer;
let receivers: EventReceiver[];
const teams = {} as Record<TeamName, Team>;
const ids = {} as Record<TeamName, string[]>;
/** A viewer of the workspace in no team. */
let bystander: TestMember;
const streams: Record<string, StreamReader> = {};
/** What was answered on the day to members of the team. */
const answers: Record<TeamName, Map<string, string>> = { Marketing: new Map(), Revenue: new Map() };

const NAMES: readonly TeamName[] = ['Marketing', 'Revenue'];
const otherOf = (name: TeamName): TeamName => (name === 'Marketing' ? 'Revenue' : 'Marketing');
const asked = (name: TeamName): Asked => ({
  teamId: teams[name].teamId,
  memberIds: Object.values(teams[name].members).map(({ memberId }) => memberId),
  ids: ids[name],
  source: teams[name].word('stripe'),
});
const ownDesk = () => new Desk(test, owner.token);

/** While set, the mail server answers no mail. */
let silence: PromiseWithResolvers<void> | undefined;

beforeAll(async () => {
  mails = await startMailServer({ mail: async () => silence?.promise.then(() => undefined) });
  receivers = [await startEventReceiver(), await startEventReceiver()];
  test = await startTestApp({
    SMTP_URL: mails.url,
    MAIL_FROM: 'ops@northwind.example',
    OUTBOUND_ALLOW: receivers.map(({ hostPort }) => hostPort).join(','),
  });
  const made = await test.createWorkspace();
  workspaceId = made.workspaceId;
  owner = made.owner as TestMember;
  for (const name of NAMES) teams[name] = await Team.found(test, ownDesk().client, workspaceId, name);
  bystander = await test.createMember(workspaceId, 'viewer');
  for (const [index, { url }] of receivers.entries()) {
    const body = { description: `Ledger of ${NAMES[index]}`, url };
    expect((await ownDesk().client.post('/partner/webhooks', body)).status).toBe(201);
  }
  for (const name of NAMES) {
    for (const [role, member] of Object.entries(teams[name].members)) {
      streams[`${name} ${role}`] = await StreamReader.open(member);
    }
  }
  streams['bystander'] = await StreamReader.open(bystander);
  streams['owner'] = await StreamReader.open(owner);

  await Promise.all(NAMES.map((name) => teams[name].work()));
  await killInTheMiddle();
  await Promise.all(
    NAMES.map(async (name) => {
      const { directiveId } = await teams[name].mail('evening');
      await teams[name].desk(teams[name].admin).until(directiveId, 'executed');
    }),
  );
  await eventually(
    () => test.rows(`select 1 from webhook_deliveries where status = 'pending'`),
    (rows) => rows.length === 0,
    30,
  );
  for (const name of NAMES) ids[name] = await teams[name].ids();
  const [last] = await test.rows<{ seq: string }>('select seq from receipt_heads where workspace_id = $1', [
    workspaceId,
  ]);
  // More may follow: who is told of what waits is told in its own time.
  await eventually(async () => streams['owner']!.seqs.at(-1)! >= Number(last!.seq));
}, 240_000);
afterAll(async () => {
  for (const stream of Object.values(streams)) stream.close();
  await test?.close();
  await mails?.close();
  await Promise.all((receivers ?? []).map((receiver) => receiver.close()));
});

/** An operator of Marketing stops everything while mails of both teams are on their way, and the owner lets it go on. */
async function killInTheMiddle(): Promise<void> {
  silence = Promise.withResolvers();
  const [sending] = await Promise.all(NAMES.map((name) => teams[name].mail('midday')));
  // Not counted among all mails: those of invites arrive at their own time.
  const midday = NAMES.map((name) => `${teams[name].word('midday')}@acme.example`);
  await eventually(async () => midday.every((address) => mails.received.some(({ to }) => to[0] === address)));
  const waiting = await teams.Revenue.handIn(
    `Email ${teams.Revenue.word('lunch')}@acme.example: It is ${teams.Revenue.word('noon')}.`,
    'capo_ops',
  );
  const kim = await test.createMember(workspaceId, 'viewer', [teams.Marketing.teamId]);
  await test.rows(`update team_members set role = 'operator' where member_id = $1`, [kim.memberId]);
  const killed = await new Desk(test, kim.token).kill('Both wait.');
  expect(killed.body).toMatchObject({ changed: true, halted: { sending: 2 } });
  expect(killed.body.unconfirmed).toHaveLength(1);
  answers.Marketing.set('kill switch', killed.text);
  const refused = await teams.Revenue.desk(teams.Revenue.admin).approve(waiting.approval.approvalId);
  expect(refused.status).toBe(423);
  answers.Revenue.set('approve under a kill', refused.text);
  silence.resolve();
  silence = undefined;
  await ownDesk().revert();
  await eventually(
    () => ownDesk().directive(sending!.directiveId),
    ({ status }) => ['executed', 'failed'].includes(status),
    20,
  );
}

/** What a member of this team is told who names what is the other team's. */
async function askForWhatIsTheOthers(name: TeamName): Promise<void> {
  const [team, other] = [teams[name], teams[otherOf(name)]];
  const { client } = team.desk(team.admin);
  const said = (what: string, { status, text }: { status: number; text: string }) => {
    // The address that was asked about stands in the answer.
    answers[name].set(what, text.replace(/"email":"[^"]*"/, ''));
    return status;
  };
  const [{ email }] = (await test.rows<{ email: string }>(
    'select email from users join members using (user_id) where member_id = $1',
    [other.operator.memberId],
  )) as [{ email: string }];
  const path = `/teams/${team.teamId}/members`;
  const theirs = `${other.word('newcomer')}@northwind.example`;
  const invite = (address: string) => client.post(path, { email: address, role: 'viewer' });
  expect(said('who is in the other team', await invite(email))).toBe(201);
  expect(said('whom the other team has invited', await invite(theirs))).toBe(201);
  expect(said('whom one has invited oneself', await invite(theirs))).toBe(409);
  const { teamId } = other;
  const memo = { text: 'A memo.', teamId };
  expect(said('a directive for the other team', await client.post('/directive', memo))).toBe(404);
  const order = { name: team.word('more'), effect: 'deny', match: { actionTypes: ['email.send'] }, teamId };
  expect(said('an order for the other team', await client.post('/standing-orders', order))).toBe(404);
}

describe.each(NAMES)('a member of %s', (name) => {
  const other = otherOf(name);

  it.each(['viewer', 'operator', 'admin'] as const)(
    'who is %s there reads nothing of the other team',
    { timeout: 60_000 },
    async (role) => {
      const member = teams[name].members[role]!;
      const read = await everythingReadable(test, member, ids[name], [asked(other)]);
      expect(leaksOf(read, teams[other].mark, ids[other])).toEqual({});
      // Their own is there, in many places.
      expect(Object.keys(leaksOf(read, teams[name].mark, ids[name])).length).toBeGreaterThan(20);
    },
  );

  it('hears nothing of the other team while it happens', () => {
    for (const role of ['viewer', 'operator', 'admin']) {
      const { text } = streams[`${name} ${role}`]!;
      expect(leaksOf(new Map([['stream', text]]), teams[other].mark, ids[other])).toEqual({});
      expect(text).toContain(teams[name].mark);
    }
  });

  it('has capos that are told nothing of the other team', async () => {
    const scope = { workspaceId, teamIds: 'all' } as const;
    const [row] = await test.rows<{ id: string }>(
      'select directive_id as id from directives where team_id = $1 order by created_at desc limit 1',
      [teams[name].teamId],
    );
    const directive = (await test.app.get(Directives).find(scope, row!.id))!;
    const text = `${directive.text} Report revenue, approvals and signals of this week.`;
    const briefing = await test.app.get(BriefingReader).read(scope, { ...directive, text } as never);
    const told = new Map([['briefing', JSON.stringify(briefing)]]);
    expect(leaksOf(told, teams[other].mark, ids[other])).toEqual({});
    expect(told.get('briefing')).toContain(teams[name].mark);
  });

  it('may not have a webhook destination: those belong to the workspace', async () => {
    const { client } = teams[name].desk(teams[name].admin);
    const body = { description: 'Mine', url: receivers[0]!.url };
    expect((await client.post('/partner/webhooks', body)).status).toBe(403);
    expect((await client.get('/webhooks')).status).toBe(403);
  });

  // Behind what is read: whoever invites somebody writes the address down.
  it('is told nothing of the other team by a refusal, a kill or an invite', async () => {
    await askForWhatIsTheOthers(name);
    expect(answers[name].size).toBeGreaterThan(4);
    expect(leaksOf(answers[name], teams[other].mark, ids[other])).toEqual({});
  });
});

describe('a viewer of the workspace who is in no team', () => {
  it('reads and hears nothing of either', { timeout: 60_000 }, async () => {
    const read = await everythingReadable(test, bystander, [], NAMES.map(asked));
    read.set('stream', streams['bystander']!.text);
    for (const name of NAMES) expect(leaksOf(read, teams[name].mark, ids[name])).toEqual({});
  });
});

describe('what leaves the workspace', () => {
  it('is mail with the words of one team alone', async () => {
    const said = await Promise.all(
      mails.received.map(async ({ bytes, to, from }) => {
        const { subject, text, html, headers } = await PostalMime.parse(bytes);
        return JSON.stringify([from, to, subject, text, html, headers]).toLowerCase();
      }),
    );
    for (const name of NAMES) {
      const own = said.filter((text) => text.includes(teams[name].mark));
      expect(own.length).toBeGreaterThan(3);
      const mixed = own.filter(
        (text) =>
          ids[otherOf(name)].some((id) => text.includes(id)) ||
          // Both invite the other's people; whom they invite is said by the envelope.
          (text.includes(teams[otherOf(name)].mark) && !text.includes('/invites/')),
      );
      expect(mixed).toEqual([]);
    }
  });

  it('is events with the words of one team alone, to the destinations of the workspace', () => {
    for (const { received } of receivers) {
      const said = received.map(({ body }) => body.toString().toLowerCase());
      for (const name of NAMES) {
        const own = said.filter((text) => text.includes(teams[name].mark));
        expect(own.length).toBeGreaterThan(10);
        expect(own.filter((text) => text.includes(teams[otherOf(name)].mark))).toEqual([]);
      }
    }
  });
});

describe('the owner', () => {
  it('sees all of both', async () => {
    const seen = new Set<string>();
    for (const list of ['directives', 'work-packets', 'documents', 'signals']) {
      for (let cursor = ''; ;) {
        const { body, text } = await new Client(test.url, owner.token).get(`/${list}?limit=100${cursor}`);
        for (const [id] of text.matchAll(/\b(?:dir|pkt|doc)_[0-9a-z]{26}\b/g)) seen.add(id);
        if (body.nextCursor === null) break;
        cursor = `&cursor=${body.nextCursor}`;
      }
    }
    for (const name of NAMES) {
      const work = ids[name].filter((id) => /^(?:dir|pkt|doc)_/.test(id));
      expect(work.length).toBeGreaterThan(20);
      expect(work.filter((id) => !seen.has(id))).toEqual([]);
      expect(streams['owner']!.text).toContain(teams[name].mark);
    }
  });
});
