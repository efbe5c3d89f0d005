import { describe, expect, it } from 'vitest';
import type { DraftPacket } from '../../src/features/capos/briefing.js';
import { draftFrom } from '../../src/features/capos/builtin/draft.js';
import { briefing } from './briefings.js';

type Previous = Pick<DraftPacket, 'title' | 'type' | 'params' | 'rationale'> &
  Partial<Pick<DraftPacket, 'needsInput'>>;

/** With a person's own edits in it. */
const MAIL: Previous = {
  title: 'Mail to ada@x.example',
  type: 'email.send',
  params: {
    to: ['ada@x.example'],
    subject: 'The demo',
    body: 'Dear Ada,\n\nthe demo is on Friday and costs 500 EUR.\n\nMara',
  },
  rationale: 'The directive asks for it.',
};

function revised(text: string, packets: Previous[] = [MAIL]) {
  const feedback = [{ round: 1, text, previous: { summary: '', body: '', packets } }];
  const draft = draftFrom({
    ...briefing('Email ada@x.example: The demo is on Friday.', 'capo_ops'),
    feedback,
  });
  return { ...draft, params: draft.packets[0]!.params, asked: draft.packets[0]!.needsInput };
}

describe('request changes', () => {
  it.each([
    'shorter, please',
    'Say instead: It is on Monday.',
    'Schreib „Es ist am Montag.“',
    'replace "500 EUR" with "450 EUR"',
    'Betreff: Neuer Termin',
    'send it to bob@x.example instead',
    'cc bob@x.example',
    'remove ada@x.example',
    '',
  ])('brings the draft back as it was, and asks the person to edit it: %s', (text) => {
    const draft = revised(text);
    expect(draft.params).toEqual(MAIL.params);
    expect(draft.asked).toMatchObject([{ path: 'params.body', message: expect.stringContaining(text) }]);
    expect(draft.remarks).toContain("the built-in runner doesn't rewrite");
  });

  it('brings back each work packet', () => {
    const draft = revised('Say instead: It is on Monday.', [MAIL, MAIL]);
    expect(draft.packets.map(({ params }) => params)).toEqual([MAIL.params, MAIL.params]);
  });

  it('still asks for what is missing', () => {
    const needsInput = [{ path: 'params.subject', message: 'Write a subject.' }];
    expect(revised('Shorter', [{ ...MAIL, needsInput }]).asked).toMatchObject([
      ...needsInput,
      { path: 'params.body' },
    ]);
    const nobody = { ...MAIL, params: { ...MAIL.params, to: [] } };
    expect(revised('Shorter', [nobody]).asked).toMatchObject([
      { path: 'params.to', message: 'Who is to receive it?' },
      { path: 'params.body' },
    ]);
  });

  it('drafts anew where nothing was drafted', () => {
    expect(revised('shorter', []).params).toMatchObject({ body: 'The demo is on Friday.' });
  });
});
