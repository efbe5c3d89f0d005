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
    ['shorter, please', 'params.body'],
    ['Make it friendlier and more formal', 'params.body'],
    ['Make it shorter and mention this: the price', 'params.body'],
    ['Don’t mention "Friday".', 'params.body'],
    ['bcc bob@x.example', 'params.to'],
    ['remove ada@x.example', 'params.to'],
    ['not to ada@x.example', 'params.to'],
    ['Replace eve@x.example with bob@x.example.', 'params.to'],
    ['Send it to bob@x.example and make it shorter.', 'params.body'],
    ['Subject: "New date" and make it shorter', 'params.body'],
    ['Change the subject to Friday, and make it shorter', 'params.subject'],
    ['Make the subject shorter', 'params.subject'],
    ['replace "700 EUR" with "450 EUR"', 'params.body'],
    ['', 'params.body'],
  ])('brings everything else back as it was, and asks for it where it belongs: %s', (text, path) => {
    const draft = revised(text);
    expect(draft.params).toEqual(MAIL.params);
    expect(draft.asked).toEqual([{ path, message: expect.stringContaining(`The wish: “${text}”`) }]);
    expect(draft.remarks).toContain("the built-in runner doesn't rewrite");
  });

  const SHIPPING = { subject: 'The order ships on Friday at 9', body: 'The order ships on Friday at 9.' };
  const TO_SAM: Previous = {
    ...MAIL,
    title: 'Mail to sam@oak.example',
    params: { to: ['sam@oak.example'], ...SHIPPING },
  };
  it.each([
    ['Please send it to sue@oak.example instead of sam@oak.example.', { to: ['sue@oak.example'] }],
    ['Replace sam@oak.example with sue@oak.example.', { to: ['sue@oak.example'] }],
    ['replace Sam@Oak.example by sue@oak.example', { to: ['sue@oak.example'] }],
    ['Bitte an sue@oak.example statt an sam@oak.example.', { to: ['sue@oak.example'] }],
    ['Ersetze sam@oak.example durch sue@oak.example.', { to: ['sue@oak.example'] }],
    ['Send it to sue@oak.example, not to sam@oak.example.', { to: ['sue@oak.example'] }],
    ['Not to sam@oak.example but to sue@oak.example', { to: ['sue@oak.example'] }],
    ['Nicht an sam@oak.example, sondern an sue@oak.example.', { to: ['sue@oak.example'] }],
    ['Remove sam@oak.example, add sue@oak.example', { to: ['sue@oak.example'] }],
    ['Send it to sue@oak.example instead.', { to: ['sue@oak.example'] }],
    ['Wrong recipient: it should go to sue@oak.example', { to: ['sue@oak.example'] }],
    ['Also to sue@oak.example', { to: ['sam@oak.example', 'sue@oak.example'] }],
    ['Send it to sue@oak.example too, please', { to: ['sam@oak.example', 'sue@oak.example'] }],
    [
      'Subject should be "Shipping" and cc bob@oak.example',
      { to: ['sam@oak.example'], subject: 'Shipping', cc: ['bob@oak.example'] },
    ],
    ['Add bob@oak.example in cc. Thanks!', { to: ['sam@oak.example'], cc: ['bob@oak.example'] }],
    [
      'Replace "Friday" with "Saturday".',
      {
        to: ['sam@oak.example'],
        subject: 'The order ships on Saturday at 9',
        body: 'The order ships on Saturday at 9.',
      },
    ],
    ['Change the subject to Shipping on Friday', { to: ['sam@oak.example'], subject: 'Shipping on Friday' }],
    ['Change the subject to Shipping. Thanks!', { to: ['sam@oak.example'], subject: 'Shipping' }],
    [
      'Ändere den Betreff in Lieferung am Donnerstag.',
      { to: ['sam@oak.example'], subject: 'Lieferung am Donnerstag' },
    ],
    [
      'Change the subject to Lieferung am Donnerstag',
      { to: ['sam@oak.example'], subject: 'Lieferung am Donnerstag' },
    ],
  ])('does the whole of what is plain: %s', (text, changed) => {
    const draft = revised(text, [TO_SAM]);
    expect(draft.params).toEqual({ ...SHIPPING, ...changed });
    expect(draft.asked).toEqual([]);
    expect(draft.remarks).toContain('Changed as asked');
    const to = (draft.params['to'] as string[]).join(', ');
    expect(draft.packets[0]!.title).toBe(`Mail to ${to}: ${String(draft.params['subject'])}`);
  });

  it('replaces a person who had a copy, and keeps the others', () => {
    const params = { ...TO_SAM.params, to: ['ada@oak.example', 'sam@oak.example'], cc: ['kim@oak.example'] };
    const packet = { ...TO_SAM, params };
    expect(revised('Replace kim@oak.example with sue@oak.example.', [packet]).params).toEqual({
      ...params,
      cc: ['sue@oak.example'],
    });
    expect(revised('sue@oak.example instead of sam@oak.example', [packet]).params).toEqual({
      ...params,
      to: ['ada@oak.example', 'sue@oak.example'],
    });
  });

  it.each([
    ['Replace sam@oak.example with sue@oak.example.', { body: 'Ask sam@oak.example.' }],
    ['Replace "Friday" with "Saturday".', { body: 'On Friday, not on FRIDAY.' }],
    ['Replace "9" with "10".', { body: 'At 9, for 19 EUR.' }],
    ['cc sam@oak.example', {}],
  ])('does not claim what would leave a rest: %s', (text, changes) => {
    const params = { ...TO_SAM.params, ...changes };
    const draft = revised(text, [{ ...TO_SAM, params }]);
    expect(draft.params).toEqual(params);
    expect(draft.remarks).not.toContain('Changed as asked');
    expect(draft.asked).toHaveLength(1);
  });

  it('drops the wish that was not followed once the next one is, and nothing else that is needed', () => {
    const described = [{ path: 'params.body', message: 'Write the message.' }];
    const [first] = revised('shorter, please', [{ ...TO_SAM, needsInput: described }]).packets;
    expect(first!.needsInput).toHaveLength(2);
    expect(revised('Subject: "Shipping"', [first!]).asked).toEqual(described);
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
