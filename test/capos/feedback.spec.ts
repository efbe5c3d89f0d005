import { describe, expect, it } from 'vitest';
import { draftFrom } from '../../src/features/capos/builtin/draft.js';
import type { CapoRole } from '../../src/features/capos/capo.js';
import { briefing } from './briefings.js';

const TEXT =
  "Email ada.king@x.com that the demo moved to Friday and the price stays at 500 EUR. We can't offer parking.";

function revised(
  feedback: string[],
  text = TEXT,
  capo: CapoRole = 'capo_revenue',
  context: Record<string, unknown> | null = null,
) {
  const { packets, summary } = draftFrom(briefing(text, capo, { feedback, directive: { context } }));
  const {
    to,
    cc,
    subject = '',
    body = '',
  } = (packets[0]?.params ?? {}) as { to?: string[]; cc?: string[]; subject?: string; body?: string };
  return { type: packets[0]?.type, to, cc, subject, body, summary };
}

describe('request changes', () => {
  const first = revised([]);

  it.each(['shorter', 'Please make it shorter.', 'Too long', 'be more concise', 'Can you shorten it'])(
    '"%s" leaves out what is not the message',
    (request) => {
      const { body, summary } = revised([request]);
      expect(body.length).toBeLessThan(first.body.length);
      expect(body).not.toContain('If you have any questions');
      expect(body).toContain('The demo moved to Friday, 4 December');
      expect(summary).toContain('Changed as asked in round 1: made it shorter.');
    },
  );

  it('"more formal" changes salutation, contractions and closing', () => {
    const { body } = revised(['More formal, please']);
    expect(body).toMatch(/^Dear Ada,/);
    expect(body).toContain('We cannot offer parking.');
    expect(body).toContain('Yours sincerely,');
  });

  it('wins over what the instruction asked for', () => {
    const { body } = revised(['more detail'], 'Email ada.king@x.com that it moved. Keep it short.');
    expect(body).toContain('I am happy to explain anything in more detail.');
  });

  it('"friendlier" warms it up', () => {
    expect(revised(['friendlier']).body).toMatch(/^Hi Ada,\n\nI hope you are well\./);
  });

  it.each([
    ['add that breakfast is included', 'Breakfast is included.'],
    ['mention the dress code', 'Please also note the dress code.'],
    [
      'ask whether next week works',
      'Could you let me know whether next week (from Monday, 7 December) works?',
    ],
    ['Also include that her seat is reserved', 'Your seat is reserved.'],
    ['Add a sentence about the new venue', 'the new venue'],
  ])('"%s" adds it in the words of the mail', (request, sentence) => {
    expect(revised([request]).body.toLowerCase()).toContain(sentence.toLowerCase());
  });

  it.each([
    'drop the price',
    "don't mention the price",
    'Leave out the part about the price',
    'remove the price',
  ])('"%s" drops it and nothing else', (request) => {
    const { body } = revised([request]);
    expect(body).not.toContain('500 EUR');
    expect(body).toContain('The demo moved to Friday, 4 December.');
  });

  it.each([
    'Change the subject to "New demo date"',
    'subject: New demo date',
    'the subject should be New demo date',
    'Use "New demo date" as the subject',
  ])('"%s" sets the subject', (request) => {
    expect(revised([request]).subject).toBe('New demo date');
  });

  it.each([
    ['Address it to bob.ross@x.com instead', ['bob.ross@x.com'], undefined],
    ['send it to bob.ross@x.com', ['bob.ross@x.com'], undefined],
    ['also send it to bob.ross@x.com', ['ada.king@x.com', 'bob.ross@x.com'], undefined],
    ['add bob.ross@x.com as a recipient', ['ada.king@x.com', 'bob.ross@x.com'], undefined],
    ['cc bob.ross@x.com', ['ada.king@x.com'], ['bob.ross@x.com']],
  ])('"%s" changes who gets it', (request, to, cc) => {
    expect(revised([request])).toMatchObject({ to, cc });
  });

  it('addresses it to somebody the context knows', () => {
    expect(
      revised(['Address it to Bob'], TEXT, 'capo_revenue', {
        contacts: [{ name: 'Bob Ross', email: 'b@x.com' }],
      }).to,
    ).toEqual(['b@x.com']);
  });

  it('"say … instead of …", "replace … with …" and "sign it as …" change the words', () => {
    const { body } = revised(['replace "500 EUR" with "450 EUR" and sign it as The Events Team']);
    expect(body).toContain('the price stays at 450 EUR');
    expect(body).toContain('The Events Team  \nNorthwind');
  });

  it('"don\'t send it" files it', () => {
    const { type, summary } = revised(["Don't send it, I just want a draft"]);
    expect(type).toBe('document.file');
    expect(summary).toContain('It is filed instead of sent, as asked.');
  });

  it('keeps what earlier rounds asked for', () => {
    const { body, subject, summary } = revised([
      'shorter please, and more formal',
      'drop the price; add that breakfast is free',
      'change the subject to Demo',
    ]);
    expect(subject).toBe('Demo');
    expect(body).toBe(
      'Dear Ada,\n\nThe demo moved to Friday, 4 December. We cannot offer parking. Breakfast is free.\n\nYours sincerely,  \nMara Klein  \nNorthwind',
    );
    expect(summary).toContain('Changed as asked in round 1: made it shorter; made it more formal.');
    expect(summary).toContain(
      'Changed as asked in round 2: dropped what it said about “the price”; added “that breakfast is free”.',
    );
    expect(summary).toContain('Changed as asked in round 3: changed the subject to “Demo”.');
  });

  it('says what it did not understand and what it did not find', () => {
    const { summary } = revised(['Make it blue. Drop the pandas.']);
    expect(summary).toContain('Not understood: “Make it blue”.');
    expect(summary).toContain('Nothing in it mentioned “the pandas”.');
  });

  it('changes documents too', () => {
    const { body, subject } = revised(
      ['drop the steps; add that the budget is 2k EUR; change the title to Spring'],
      'Plan the spring launch',
      'capo_marketing',
    );
    expect(subject).toBe('');
    expect(body).toMatch(/^# Spring\n/);
    expect(body).toContain('## Also\n\n- The budget is 2k EUR.');
    expect(body).not.toContain('## Steps');
  });
});
