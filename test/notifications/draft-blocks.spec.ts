import { describe, expect, it } from 'vitest';
import { draftBlocks } from '../../src/features/notifications/draft-blocks.js';

type Shown = Parameters<typeof draftBlocks>[0];
type Packet = Shown['packets'][number];

const NOTHING: Pick<Shown, 'output' | 'question' | 'requestedBy' | 'policy'> = {
  output: null,
  question: null,
  policy: null,
  requestedBy: { type: 'agent', id: 'tok_1', name: 'refund-bot', via: 'api' },
};

describe('the draft in a mail and on its page', () => {
  it('says who receives a mail, then its subject, then its text, and what else it has below', () => {
    // The order in which the database keeps them.
    const params = {
      cc: [],
      to: ['jane@acme.example'],
      body: 'On Friday.',
      extra: '1',
      subject: 'Your order',
    };
    const packet = {
      title: 'Mail to jane@acme.example',
      action: { type: 'email.send', params },
      reversibility: 'irreversible',
      rationale: '',
      needsInput: [],
    } as unknown as Packet;
    const blocks = draftBlocks({ ...NOTHING, kind: 'output', packets: [packet] }, { bound: Infinity });
    const facts = blocks.flatMap((block) => (block.kind === 'facts' ? block.facts : []));
    expect(facts.map(([name]) => name)).toEqual([
      'Action',
      'Afterwards',
      'To',
      'Cc',
      'Subject',
      'Text',
      'extra',
    ]);
  });

  it('shows every parameter of what an agent asks for as it is, and its reason below them as its claim', () => {
    const params = {
      to: ['a, b', 'c'],
      amount: '25',
      none: null,
      note: 'x\u202ey\u{e0041}',
      text: 'y'.repeat(30_000),
    };
    const packet = {
      title: 'Refund',
      action: { type: 'crm.refund', params },
      reversibility: 'irreversible',
      rationale: 'The chief said so.',
      needsInput: [],
    } as unknown as Packet;
    const policy = { outcome: 'require_approval', explanation: [], amount: '60.00 EUR' };
    const blocks = draftBlocks(
      { ...NOTHING, kind: 'action', packets: [packet], policy },
      { bound: Infinity },
    );
    const amount = blocks.findIndex((block) => block.kind === 'facts' && block.facts[1]?.[1] === '60.00 EUR');
    expect(amount).toBeGreaterThan(0);
    expect(amount).toBeLessThan(blocks.findIndex(({ kind }) => kind === 'quote'));
    const [shown, claim, ...more] = blocks.flatMap((block) => (block.kind === 'quote' ? [block.text] : []));
    expect(JSON.parse(shown!)).toEqual(params);
    expect(shown).toContain('"note": "x\\u202ey\\udb40\\udc41"');
    expect([claim, more]).toEqual(['The chief said so.', []]);
    expect(blocks.at(-2)).toMatchObject({
      kind: 'text',
      text: expect.stringContaining('nobody has checked'),
    });
  });
});
