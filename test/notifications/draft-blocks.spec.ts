import { describe, expect, it } from 'vitest';
import { draftBlocks } from '../../src/features/notifications/draft-blocks.js';

type Packet = Parameters<typeof draftBlocks>[0]['packets'][number];

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
    const blocks = draftBlocks({ packets: [packet], output: null }, { bound: Infinity });
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
});
