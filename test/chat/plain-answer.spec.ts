import { describe, expect, it } from 'vitest';
import { recordIdsIn } from '../../src/features/chat/intents.js';
import { ordersText, waitingText } from '../../src/features/chat/plain-answer.js';
import { recordText } from '../../src/features/chat/record-answer.js';
import { refusalOf } from '../../src/features/chat/refusals.js';

const PKT = 'pkt_01khqw6sb0xg7v9zhwnqcrxds8';
const APR = 'apr_01khqw6q00tp9w1md2nw5hc13a';

describe('the records that facts are about', () => {
  it('are named by their ids, not by what stands in their texts', () => {
    const facts = {
      a: [{ approvalId: APR, title: `See ${PKT}` }],
      b: null,
      n: 1,
      standingOrderIds: [APR, PKT],
    };
    expect(recordIdsIn({ a: facts.a })).toEqual([APR]);
    expect(recordIdsIn(facts)).toEqual([APR, PKT]);
    expect(recordIdsIn(undefined)).toEqual([]);
  });
});

describe('an answer in words', () => {
  const escalations = [
    {
      escalationId: 'esc_1',
      kind: 'packet_failed',
      reason: 'No.',
      options: ['retry', 'dismiss'],
      dueAt: null,
    },
    {
      escalationId: 'esc_2',
      kind: 'kill_unconfirmed',
      reason: 'No.',
      options: ['arrived', 'send_again', 'dismiss'],
      dueAt: null,
    },
  ];

  it('names each option of an escalation once', () => {
    const reply = waitingText({ approvals: [], approvalsInAll: 0, escalations, escalationsInAll: 2 }, 'UTC');
    expect(reply).toBe(
      [
        '2 escalations wait for a decision:',
        '- esc_1 (packet failed): “No.”; you can choose retry or dismiss',
        '- esc_2 (kill unconfirmed): “No.”; you can choose arrived, send again, or dismiss',
      ].join('\n'),
    );
  });

  it('does not count what it has stopped counting', () => {
    const facts = { approvals: [], approvalsInAll: 0, escalations, escalationsInAll: 1_000 };
    expect(waitingText(facts, 'UTC')).toContain('1000 or more escalations wait for a decision; the first 2:');
  });

  it('counts standing orders beyond those that it shows', () => {
    const order = {
      standingOrderId: 'so_1',
      name: 'No mail',
      text: '',
      effect: 'deny',
      capos: null,
      expiresAt: null,
    };
    expect(ordersText({ orders: [order], inAll: 35 }, 'UTC')).toMatch(
      /^35 standing orders are active; the newest 1:\n/,
    );
    expect(ordersText({ orders: [order], inAll: 1 }, 'UTC')).toMatch(/^1 standing order is active:\n/);
  });

  it('says how many work packets a directive has beyond those that it shows', () => {
    const packet = {
      workPacketId: PKT,
      directiveId: 'dir_1',
      title: 'Mail',
      type: 'email.send',
      target: null,
      params: {},
      status: 'executed',
      capo: 'capo_ops',
      allowedBy: null,
      failure: null,
      decisions: [],
    };
    const directive = {
      directiveId: 'dir_1',
      text: 'Mail them.',
      status: 'executed',
      capo: 'capo_ops',
      routing: null,
      error: null,
      createdBy: 'Mira',
      createdAt: 0,
      packets: [packet, packet],
      packetsInAll: 12,
      approvals: [],
    };
    const more = 'It has 12 work packets; these are the first 2.';
    expect(recordText('dir_1', { asked: 'dir_1', directive }, 'UTC')).toContain(more);
    expect(recordText(PKT, { asked: PKT, directive }, 'UTC')).not.toContain(more);
  });

  it('speaks to people: no method and no path', () => {
    const reply = refusalOf(['decide', 'mode', 'kill', 'orders', 'settings'], 'https://acme.example');
    expect(reply).not.toMatch(/\b(?:GET|POST|PUT|PATCH|DELETE)\b|\/api\//);
    expect(reply.match(/https:\/\/acme\.example\/docs#\/\w+\/\w+_\w+/g)!.length).toBeGreaterThanOrEqual(5);
  });
});
