import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifyLog } from '../../../src/features/verifier/verifier.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import {
  eventually,
  startTestApp,
  type TestApp,
  type TestMember,
  type TestWorkspace,
} from '../../support/test-app.js';
import { queueWork } from '../guardian/queued-work.js';
import { Ledger } from './ledger.js';

const VERIFY = '/audit-feed/verify';

let test: TestApp;
let workspace: TestWorkspace;
let ledger: Ledger;
beforeAll(async () => {
  test = await startTestApp();
});
beforeEach(async () => {
  workspace = await test.createWorkspace();
  ledger = await Ledger.open(test, workspace.workspaceId);
});
afterAll(() => test.close());

/** Calls from another address each time: neither kills nor verifications are many a minute from one. */
const owner = () => new Client(test.url, workspace.owner.token);
const verified = async (member: Client = owner()) => (await member.get(VERIFY)).body;

async function kill(): Promise<void> {
  expect((await owner().post('/guardian/kill-switch', { reason: 'something is wrong' })).status).toBe(200);
}

async function revert(): Promise<void> {
  const { status, text } = await owner().post('/guardian/revert', {});
  expect(status, text).toBe(200);
}

/** What a program could write that sends although it may not: by the application's own role, in the chain. */
async function forge(receipt: {
  workPacketId: string;
  teamId?: string;
  began?: { epoch: number; seq: number };
}) {
  const { workPacketId, teamId = null, began } = receipt;
  await ledger.append({
    action: 'packet.executed',
    entity: { type: 'work_packet', id: workPacketId },
    teamId,
    summary: 'Sent it.',
    details: { actionType: 'email.send', attempt: 1, ...(began && { began }) },
  });
  return (await ledger.head()).seq;
}

describe('GET /audit-feed/verify about halts', () => {
  it('tells nothing of a workspace that never used the kill switch', async () => {
    expect(await verified()).toMatchObject({ ok: true, halts: [], haltCount: 0 });
  });

  it('tells of each kill and its revert, newest first, and finds nothing sent between', async () => {
    await kill();
    await revert();
    await kill();
    const { ok, halts, haltCount } = await verified();
    expect({ ok, haltCount }).toEqual({ ok: true, haltCount: 2 });
    const [standing, lifted] = halts;
    const nothing = { dispatchesBetween: [], dispatchCount: 0, unconfirmed: [], unconfirmedCount: 0 };
    expect(standing).toEqual({
      ...nothing,
      epoch: 2,
      killedSeq: expect.any(Number),
      killedAt: expect.any(Number),
      revertedSeq: null,
      revertedAt: null,
    });
    expect(lifted).toMatchObject({ ...nothing, epoch: 1, revertedAt: expect.any(Number) });
    expect(lifted.killedSeq).toBeLessThan(lifted.revertedSeq);
    expect(lifted.revertedSeq).toBeLessThan(standing.killedSeq);
  });

  it('names a dispatch receipt that was forged between a kill and its revert', async () => {
    const workPacketId = newId('pkt');
    await kill();
    const killedSeq = (await ledger.head()).seq;
    const seq = await forge({ workPacketId });
    await revert();
    const { ok, faults, halts } = await verified();
    expect(ok).toBe(false);
    expect(faults).toEqual([
      {
        kind: 'dispatch_in_halt',
        seq,
        message: `Receipt ${seq} records a dispatch that began while the kill switch of receipt ${killedSeq} was engaged.`,
      },
    ]);
    expect(halts[0].dispatchesBetween).toEqual([
      { seq, killedSeq, receiptId: expect.stringMatching(/^rcp_/), workPacketId },
    ]);
  });

  it('names one that began in the halt and whose receipt was kept back until the revert', async () => {
    await kill();
    const began = { epoch: 1, seq: (await ledger.head()).seq };
    await revert();
    const seq = await forge({ workPacketId: newId('pkt'), began });
    const { faults, halts } = await verified();
    expect(faults).toMatchObject([{ kind: 'dispatch_in_halt', seq }]);
    expect(halts[0]).toMatchObject({ dispatchCount: 1, dispatchesBetween: [{ seq }] });
  });

  it('counts packets of other teams for the member of one, and names none of them', async () => {
    const [mine, theirs] = await Promise.all(
      ['Mine', 'Theirs'].map((name) => test.createTeam(workspace.workspaceId, name)),
    );
    const member: TestMember = await test.createMember(workspace.workspaceId, 'viewer', [mine!]);
    const [ownPacket, otherPacket] = [newId('pkt'), newId('pkt')];
    await kill();
    const seq = await forge({ workPacketId: ownPacket, teamId: mine! });
    await forge({ workPacketId: otherPacket, teamId: theirs! });
    const answer = await member.get(VERIFY);
    expect(answer.body.halts[0]).toMatchObject({
      dispatchCount: 2,
      dispatchesBetween: [{ seq, workPacketId: ownPacket }],
    });
    expect(answer.text).not.toContain(otherPacket);
    const whole = await verified();
    expect(whole.halts[0].dispatchesBetween).toHaveLength(2);
  });

  it('finds none after real kills while work is being sent, and knows how what was under way ended', async () => {
    const { workspaceId } = workspace;
    const database = { rows: test.rows, workspaceId };
    const queued = await queueWork(database, { directives: 60, packetsEach: 2 });
    const executed = async () => {
      const done = await test.rows(
        `select 1 from work_packets where workspace_id = $1 and status = 'executed'`,
        [workspaceId],
      );
      return done.length;
    };
    for (const share of [10, 40, 80]) {
      await eventually(executed, (count) => count >= share, 30);
      await kill();
      await eventually(
        () =>
          test.rows(`select 1 from work_packets where workspace_id = $1 and status = 'sending'`, [
            workspaceId,
          ]),
        (sending) => sending.length === 0,
        30,
      );
      await revert();
    }
    await eventually(executed, (count) => count === queued.length, 60);
    const { ok, faults, halts } = await verified();
    expect({ ok, faults }).toEqual({ ok: true, faults: [] });
    expect(halts).toHaveLength(3);
    for (const halt of halts) {
      expect(halt).toMatchObject({ dispatchesBetween: [], dispatchCount: 0 });
      for (const packet of halt.unconfirmed) expect(packet).toMatchObject({ ended: 'executed' });
    }
    // Every receipt of a dispatch says where it began, and none of that lies in a halt.
    const began = await test.rows<{ epoch: number; seq: number; own: number }>(
      `select (body::jsonb->'details'->'began'->>'epoch')::int as epoch, (body::jsonb->'details'->'began'->>'seq')::int as seq,
         seq::int as own
       from receipts where workspace_id = $1 and action = 'packet.executed'`,
      [workspaceId],
    );
    expect(began).toHaveLength(queued.length);
    for (const one of began) {
      expect(one.seq).toBeLessThan(one.own);
      const before = halts.filter(({ killedSeq }: { killedSeq: number }) => killedSeq <= one.seq).length;
      expect(one.epoch).toBe(before);
    }
  });
});

describe('lines of the audit feed', () => {
  /** As somebody verifies them who has nothing but the file. */
  async function verifiedLines(member: Client = owner()) {
    const { text } = await member.get('/audit-feed?format=jsonl');
    return verifyLog(Readable.from([Buffer.from(text)]), workspace.workspaceId);
  }

  it('show the same, with every hash checked', async () => {
    await kill();
    const killedSeq = (await ledger.head()).seq;
    const workPacketId = newId('pkt');
    const seq = await forge({ workPacketId });
    await revert();
    const log = await verifiedLines();
    expect(log).toMatchObject({
      receipts: (await ledger.head()).seq,
      firstSeq: 1,
      gaps: 0,
      areHashesChecked: true,
    });
    expect(log.proofs.inHalt).toMatchObject([{ seq, workPacketId }]);
    expect(log.proofs.areSound).toBe(false);
    expect(log.proofs.inWords()).toEqual([
      'The kill switch was used once; something was sent before its revert:',
      `Receipt ${seq} records that the work packet ${workPacketId} was sent while the kill switch of receipt ${killedSeq} was engaged.`,
      expect.stringMatching(/^Decisions: 0\./),
    ]);
  });

  it('are verified as far as they go: a member of a team has gaps between them', async () => {
    const team = await test.createTeam(workspace.workspaceId, 'Mine');
    const member = await test.createMember(workspace.workspaceId, 'viewer', [team]);
    await ledger.append({ teamId: team }, {}, { teamId: team });
    expect(await verifiedLines(member)).toMatchObject({ receipts: 2, gaps: 1 });
  });

  it.each([
    [
      'a changed sentence',
      (line: string) => line.replace('Ada did', 'Eve did'),
      /hash of receipt 2 does not match/,
    ],
    ['no receipt', () => '{}', /Line 2 is no receipt/],
    ['no JSON', () => 'x', /Line 2 is no receipt/],
    ['a receipt that is there twice', (_line: string, before: string) => before, /Receipt 3 is there twice/],
  ])('are refused with %s', async (_case, change, message) => {
    await ledger.append({}, {}, {});
    const { text } = await owner().get('/audit-feed?format=jsonl');
    const lines = text.trimEnd().split('\n');
    lines[1] = change(lines[1]!, lines[0]!);
    const verifying = verifyLog(Readable.from([Buffer.from(lines.join('\n'))]), workspace.workspaceId);
    await expect(verifying).rejects.toThrow(message);
  });
});
