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
  it('still asks for a text that nobody has written yet', () => {
    const needsInput = [{ path: 'params.body', message: 'Write the message.' }];
    const draft = revised('cc bob@x.example', [{ ...MAIL, needsInput }]);
    expect(draft.params).toEqual({ ...MAIL.params, cc: ['bob@x.example'] });
    expect(draft.asked).toEqual(needsInput);
  });

  it.each([
    ['replaces the text', 'Say instead: It is on Monday.', { ...MAIL.params, body: 'It is on Monday.' }],
    ['replaces the text', 'Schreib „Es ist am Montag.“', { ...MAIL.params, body: 'Es ist am Montag.' }],
    [
      'replaces words',
      'replace "500 EUR" with "450 EUR"',
      { ...MAIL.params, body: 'Dear Ada,\n\nthe demo is on Friday and costs 450 EUR.\n\nMara' },
    ],
    ['sets the subject', 'Change the subject to "New date"', { ...MAIL.params, subject: 'New date' }],
    ['sets the subject', 'Betreff: Neuer Termin', { ...MAIL.params, subject: 'Neuer Termin' }],
    ['sets the recipient', 'send it to bob@x.example instead', { ...MAIL.params, to: ['bob@x.example'] }],
    [
      'adds a recipient',
      'also send it to bob@x.example',
      { ...MAIL.params, to: ['ada@x.example', 'bob@x.example'] },
    ],
    ['adds a copy', 'cc bob@x.example', { ...MAIL.params, cc: ['bob@x.example'] }],
  ])('%s and leaves the rest: %s', (_case, text, params) => {
    const draft = revised(text);
    expect(draft.params).toEqual(params);
    expect(draft.asked).toEqual([]);
    expect(draft.remarks).toContain('Changed as asked');
  });

  it.each([
    'shorter, please',
    'Make it friendlier and more formal',
    'bcc bob@x.example',
    'remove ada@x.example',
    'replace "700 EUR" with "450 EUR"',
    '',
  ])('brings everything else back as it was, and asks the person to edit it: %s', (text) => {
    const draft = revised(text);
    expect(draft.params).toEqual(MAIL.params);
    expect(draft.asked.map(({ path }) => path)).toEqual(['params.body']);
    expect(draft.remarks).toContain("the built-in runner doesn't rewrite");
  });

  it('does not guess which of two texts is meant', () => {
    const draft = revised('Say instead: It is on Monday.', [MAIL, MAIL]);
    expect(draft.packets.map(({ params }) => params)).toEqual([MAIL.params, MAIL.params]);
  });

  it('still asks for a recipient', () => {
    const nobody = { ...MAIL, params: { ...MAIL.params, to: [] } };
    expect(revised('Change the subject to "New date"', [nobody]).asked).toEqual([
      { path: 'params.to', message: 'Who is to receive it?' },
    ]);
    expect(revised('send it to bob@x.example', [nobody])).toMatchObject({ asked: [] });
  });

  it('drafts anew where nothing was drafted', () => {
    expect(revised('shorter', []).params).toMatchObject({ body: 'The demo is on Friday.' });
  });
});
