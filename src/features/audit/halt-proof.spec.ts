import { describe, expect, it } from 'vitest';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import { HaltProof } from './halt-proof.js';

/** A chain in the making; each act answers its number. */
class Chain {
  readonly proof = new HaltProof();
  readonly named: number[] = [];
  #seq = 0;

  kill(epoch: number, unconfirmed: string[] = [], ofTeams: Record<string, string[]> = {}): number {
    const requestId = `req_${epoch}`;
    const details = (ids: string[]) => ({
      unconfirmed: ids.map((workPacketId) => ({ workPacketId, since: 1 })),
    });
    const killed = { guardianEpoch: epoch, requestId };
    const seq = this.add({ ...killed, action: 'guardian.killed', details: details(unconfirmed) });
    for (const [teamId, ids] of Object.entries(ofTeams)) {
      this.add({ ...killed, action: 'guardian.unconfirmed', teamId, details: details(ids) });
    }
    return seq;
  }

  revert(epoch: number): number {
    return this.add({ action: 'guardian.reverted', guardianEpoch: epoch });
  }

  executed(id: string, began?: number, teamId: string | null = null): number {
    const details = began === undefined ? {} : { began: { seq: began } };
    return this.add({ action: 'packet.executed', entity: { type: 'work_packet', id }, details, teamId });
  }

  failed(id: string, code: string): number {
    return this.add({ action: 'packet.failed', entity: { type: 'work_packet', id }, details: { code } });
  }

  add(content: Partial<ReceiptContent>): number {
    const seq = ++this.#seq;
    const dispatch = this.proof.receipt(seq, { ...PLAIN, receiptId: `rcp_${seq}`, at: seq * 10, ...content });
    if (dispatch) this.named.push(dispatch.seq);
    return seq;
  }
}

const PLAIN: ReceiptContent = {
  receiptId: '',
  workspaceId: 'wks',
  at: 0,
  actor: { type: 'system', id: 'system', name: 'System', via: 'api' },
  action: 'thing.done',
  entity: { type: 'thing', id: 'thing_1' },
  directiveId: null,
  teamId: null,
  capo: null,
  outcome: 'success',
  summary: '',
  details: {},
  guardianEpoch: null,
  requestId: null,
};

describe('HaltProof', () => {
  it('finds nothing in a chain without a kill', () => {
    const chain = new Chain();
    chain.executed('pkt_1', 0);
    chain.revert(0);
    expect(chain.named).toEqual([]);
    expect(chain.proof).toMatchObject({ halts: [], count: 0 });
  });

  it('tells of each kill when it came, when it was lifted, and how what was under way ended', () => {
    const chain = new Chain();
    const killedSeq = chain.kill(1, ['pkt_1', 'pkt_2', 'pkt_3'], { team_a: ['pkt_4'] });
    const endedSeq = chain.executed('pkt_1', killedSeq - 1);
    const failedSeq = chain.failed('pkt_4', 'UNCONFIRMED');
    const revertedSeq = chain.revert(1);
    const afterwards = chain.executed('pkt_2', killedSeq - 1);
    const secondKill = chain.kill(2);
    expect(chain.named).toEqual([]);
    expect(chain.proof.count).toBe(2);
    expect(chain.proof.halts).toEqual([
      {
        epoch: 1,
        killedSeq,
        killedAt: killedSeq * 10,
        revertedSeq,
        revertedAt: revertedSeq * 10,
        dispatchesBetween: [],
        dispatchCount: 0,
        unconfirmed: [
          { workPacketId: 'pkt_1', teamId: null, since: 1, endedSeq, ended: 'executed' },
          { workPacketId: 'pkt_2', teamId: null, since: 1, endedSeq: afterwards, ended: 'executed' },
          { workPacketId: 'pkt_3', teamId: null, since: 1, endedSeq: null, ended: null },
          { workPacketId: 'pkt_4', teamId: 'team_a', since: 1, endedSeq: failedSeq, ended: 'failed' },
        ],
        unconfirmedCount: 4,
      },
      expect.objectContaining({ epoch: 2, killedSeq: secondKill, revertedSeq: null, revertedAt: null }),
    ]);
  });

  it.each<[string, (chain: Chain, killedSeq: number) => number[]]>([
    ['a dispatch that the kill did not name', (chain) => [chain.executed('pkt_9')]],
    [
      'one that the kill did not name, though it says that it began before',
      (chain, killedSeq) => [chain.executed('pkt_9', killedSeq - 1)],
    ],
    [
      'one that the kill named, and that began again behind it',
      (chain, killedSeq) => [chain.executed('pkt_1', killedSeq)],
    ],
    [
      'one that began in the halt, when its receipt was written behind the revert',
      (chain, killedSeq) => {
        chain.revert(1);
        return [chain.executed('pkt_9', killedSeq)];
      },
    ],
    [
      'one that began in the halt, when another kill has come since',
      (chain, killedSeq) => {
        chain.revert(1);
        chain.kill(2, ['pkt_9']);
        return [chain.executed('pkt_9', killedSeq)];
      },
    ],
    [
      'a failure after which nobody knows whether it left',
      (chain) => [chain.failed('pkt_9', 'MAIL_UNCONFIRMED')],
    ],
    [
      'one that a later receipt names as under way, as if the kill had',
      (chain) => {
        const requestId = 'req_1';
        chain.add({});
        const details = { unconfirmed: [{ workPacketId: 'pkt_9', since: 1 }] };
        chain.add({ action: 'guardian.unconfirmed', requestId, details });
        return [chain.executed('pkt_9')];
      },
    ],
    [
      'one that the act behind the kill names as under way',
      (chain) => {
        const details = { unconfirmed: [{ workPacketId: 'pkt_9', since: 1 }] };
        chain.add({ action: 'guardian.unconfirmed', requestId: 'req_later', details });
        return [chain.executed('pkt_9')];
      },
    ],
  ])('names %s', (_case, act) => {
    const chain = new Chain();
    chain.add({});
    const killedSeq = chain.kill(1, ['pkt_1']);
    const expected = act(chain, killedSeq);
    expect(chain.named).toEqual(expected);
    const { dispatchesBetween, dispatchCount } = chain.proof.halts[0]!;
    expect(dispatchesBetween.map(({ seq }) => seq)).toEqual(expected);
    expect(dispatchCount).toBe(expected.length);
  });

  it.each<[string, (chain: Chain) => void]>([
    ['what the kill named', (chain) => chain.executed('pkt_1', 1)],
    ['what is known not to have left', (chain) => chain.failed('pkt_9', 'MAIL_REFUSED')],
    [
      'what began behind the revert',
      (chain) => {
        const reverted = chain.revert(1);
        chain.executed('pkt_9', reverted);
      },
    ],
    [
      'what was written behind the revert by a version that did not tell when it began',
      (chain) => {
        chain.revert(1);
        chain.executed('pkt_9');
      },
    ],
  ])('does not name %s', (_case, act) => {
    const chain = new Chain();
    chain.add({});
    chain.kill(1, ['pkt_1']);
    act(chain);
    expect(chain.named).toEqual([]);
  });

  it('reads what was written by somebody else as far as it can', () => {
    const chain = new Chain();
    for (const unconfirmed of [null, 'x', [null, 1, {}, { workPacketId: 1 }, { workPacketId: 'pkt_1' }]]) {
      chain.add({ action: 'guardian.killed', details: { unconfirmed } });
      chain.add({ action: 'packet.executed', details: { began: null } });
    }
    expect(chain.proof.halts.map(({ unconfirmedCount }) => unconfirmedCount)).toEqual([0, 0, 1]);
  });

  it('needs no more memory for a long history than for a short one', () => {
    const chain = new Chain();
    for (let epoch = 1; epoch <= 3_000; epoch++) {
      const under = Array.from({ length: 60 }, (_, index) => `pkt_${epoch}_${index}`);
      const killed = chain.kill(epoch, under);
      chain.executed(under[0]!, killed - 1);
      chain.executed(`pkt_forged_${epoch}`);
      chain.revert(epoch);
    }
    const { halts, count } = chain.proof;
    expect(count).toBe(3_000);
    expect(halts).toHaveLength(50);
    expect(halts.at(-1)).toMatchObject({ epoch: 3_000, unconfirmedCount: 60, dispatchCount: 1 });
    expect(halts.at(-1)!.unconfirmed).toHaveLength(50);
    expect(chain.named).toHaveLength(3_000);
    // A dispatch is held against the halt in which it began, also when that is no longer listed.
    const inHalt2500 = 4 * 2_499 + 2;
    expect(chain.executed('pkt_late', inHalt2500)).toBe(chain.named.at(-1));
  });
});
