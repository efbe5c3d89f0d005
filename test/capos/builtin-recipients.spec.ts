import { describe, expect, it } from 'vitest';
import { draftFrom } from '../../src/features/capos/builtin/draft.js';
import { briefing } from './briefings.js';

const draft = (text: string) => draftFrom(briefing(text, 'capo_ops'));
const asked = (text: string) =>
  draft(text).packets.map(({ needsInput }) => needsInput.map(({ path }) => path));
const questions = (text: string) =>
  draft(text)
    .packets.flatMap(({ needsInput }) => needsInput.map(({ message }) => message))
    .join('\n');

describe('everybody whom an instruction names is written to or asked about', () => {
  it.each([
    'Send "Doors open at 8" to lou@x.example, then tom@x.example',
    'Send "Doors open at 8" to lou@x.example and then to tom@x.example',
    'Schick „Doors open at 8“ an lou@x.example, danach an tom@x.example',
    'Envoie « Doors open at 8 » à lou@x.example puis à tom@x.example',
    'Envía «Doors open at 8» a lou@x.example y luego a tom@x.example',
  ])('written to, who comes next: %s', (text) => {
    expect(draft(text).packets).toMatchObject([
      { params: { to: ['lou@x.example', 'tom@x.example'], body: 'Doors open at 8' }, needsInput: [] },
    ]);
  });

  it('pairs texts with those who come next', () => {
    const { packets } = draft('Mail "One" to lou@x.example then ida@x.example, and "Two" to tom@x.example');
    expect(packets.map(({ params }) => [params['to'], params['body']])).toEqual([
      [['lou@x.example', 'ida@x.example'], 'One'],
      [['tom@x.example'], 'Two'],
    ]);
  });

  it.each([
    'Send "Doors open at 8" to lou@x.example; whoever sits at tom@x.example may see it as well',
    'Send "Doors open at 8" to lou@x.example, maybe our tom@x.example',
    'Email Bob, lou@x.example and tom@x.example: Doors open at 8',
    'Sag Ida (ida@x.example), dass die Lampe da ist, und Herrn Thom auch.',
    'Tell ida@x.example that the lamp is here, and her brother too.',
    'Préviens ida@x.example que la lampe est là, et son frère aussi',
    'Dis à Ida (ida@x.example) que la lampe est là, et à Thomas que non.',
    'Write to ida@x.example saying the lamp is here, and one to tom@x.example saying it is not.',
    'Sag Ida (ida@x.example) und ihrem Bruder Thomas, dass die Lampe da ist.',
    'Email ida@x.example and her brother Thomas: The lamp is here.',
    'Send ida@x.example a note about the lamp and tom@x.example one about the oven.',
    'Invite ida@x.example! And her brother tom@x.example.',
    'Email ida@x.example, bcc tom@x.example: The lamp is here.',
    'Email ida@x.example: “The lamp is here.” Ah, and cc tom@x.example',
    'Email ida@x.example: “The lamp is here.” Our tom@x.example needs to know as well.',
    'Dile a ida@x.example que la lámpara ha llegado, y a su hermano también.',
  ])('asked about, where it is not plain: %s', (text) => {
    expect(asked(text)).toMatchObject([expect.arrayContaining(['params.to'])]);
  });

  it.each([
    'Dile a Marta que su mesa está lista y a Lou (lou@x.example) que la suya no.',
    'Dis à Marthe que sa table est prête et à Lou (lou@x.example) que la sienne ne l’est pas.',
  ])('is not told what somebody else is to be told: %s', (text) => {
    const [packet] = draft(text).packets;
    expect(packet!.params).toMatchObject({ to: [], body: expect.stringContaining('lou@x.example') });
    expect(asked(text)).toEqual([['params.to', 'params.body']]);
  });

  it.each([
    'Invite lou@x.example to the fair, not Tom (tom@x.example).',
    'Email lou@x.example that the fair begins at 9, but do not write to Tom Berg (tom@x.example)',
    'Écris à lou@x.example, sans copie à tom@x.example : La foire ouvre à 9 h.',
    'Schreib lou@x.example, ohne Kopie an tom@x.example: Die Messe öffnet um 9.',
    "Email lou@x.example and don't cc tom@x.example: The fair opens at 9.",
    'Invite lou@x.example à la foire, sauf Tom (tom@x.example).',
  ])('left out and mentioned, who is not to have it: %s', (text) => {
    const { packets, remarks } = draft(text);
    expect(packets).toMatchObject([{ params: { to: ['lou@x.example'] } }]);
    expect(remarks).toContain('Not written to: tom@x.example.');
  });

  it('copies whom it is told to copy behind the text', () => {
    expect(draft('Email lou@x.example: "The oven is hot" and copy tom@x.example').packets).toMatchObject([
      { params: { to: ['lou@x.example'], cc: ['tom@x.example'] }, needsInput: [] },
    ]);
  });

  it.each([
    'Email lou@x.example: The oven is hot. Cc tom@x.example',
    'Écris à lou@x.example : Le four est chaud. Copie à tom@x.example',
    'Email lou@x.example: The oven is hot. Subject: Oven',
    'Schreib lou@x.example: Der Ofen ist heiß. Sag bitte auch Thomas Bescheid.',
    'Ask Bob whether lou@x.example has paid, then tell him "The oven is hot"',
    "Email lou@x.example: The oven is hot. But don't tell tom@x.example",
    'Send lou@x.example this:\n- The oven is hot\n- The door is open\nAnd tell tom@x.example to come.',
  ])('asks whether it is part of the text: %s', (text) => {
    expect(asked(text)).toEqual([['params.body']]);
  });

  it.each([
    'Could you email lou@x.example? Tell him we agreed on "Jazz Night".',
    'Invite lou@x.example to "Jazz Night"',
    'Ask lou@x.example for "Jazz Night"',
    'Lade lou@x.example ein zu „Jazz Night“',
  ])('sends no name in quotation marks as the message: %s', (text) => {
    expect(asked(text)).toEqual([['params.body']]);
    expect(draft(text).packets[0]!.params['body']).toContain('Jazz Night');
  });

  it('takes a subject that is named behind its words', () => {
    expect(draft('Email lou@x.example with "Oven" as the subject: It is hot.').packets).toMatchObject([
      { params: { subject: 'Oven', body: 'It is hot.' }, needsInput: [] },
    ]);
  });

  it.each([
    'Email lou@x.example “The oven is hot” – no wait, mail tom@x.example “The oven is cold”',
    'Email lou@x.example “The oven is hot”. Scratch that. Email tom@x.example “The oven is cold”.',
  ])('lets no mail go that may have been taken back: %s', (text) => {
    expect(asked(text).every((paths) => paths.includes('params.to'))).toBe(true);
  });

  it('drops no part of what several people are to be told', () => {
    const text = 'Thank lou@x.example for the lamp and tom@x.example for the oven.';
    expect(draft(text).packets[0]!.params['body']).toContain('the lamp');
    expect(questions(text)).toContain('tom@x.example');
  });

  it('asks who receives which of several texts that are not paired', () => {
    const text = 'Email lou@x.example and tom@x.example "One" or "Two", as it fits';
    expect(draft(text).packets).toMatchObject([{ params: { to: [] } }]);
    expect(questions(text)).toMatch(/lou@x\.example.*tom@x\.example/);
    expect(questions(text)).toContain('“Two”');
  });

  it.each([
    'Email lou@x.example: "Write to help@x.example if it rings."',
    'Tell lou@x.example that help@x.example answers at night',
  ])('mentions an address that only stands in a message: %s', (text) => {
    const { packets, remarks } = draft(text);
    expect(packets).toMatchObject([{ params: { to: ['lou@x.example'] } }]);
    expect(remarks).toContain('Not written to: help@x.example.');
  });

  it('asks whose address is meant where only a message of somebody else has one', () => {
    const text =
      'Got this:\n\n---\nIt is broken.\nUwe Haß (uwe@x.example)\n---\n\nAntworte Uwe: „Wir kommen.“';
    expect(draft(text).packets).toMatchObject([{ params: { to: [], body: 'Wir kommen.' } }]);
    expect(questions(text)).toContain('uwe@x.example');
  });
});

describe('a plain mail is not questioned', () => {
  it.each([
    'Email lou@x.example, subject Oven, text: It is hot.',
    'Mail to lou@x.example, Subject: Oven\nText:\nIt is hot.',
    'Mail an lou@x.example, Betreff: Oven\nText:\nIt is hot.',
    'Please write lou@x.example the message "It is hot." with the subject "Oven"',
  ])('%s', (text) => {
    const { packets, remarks } = draft(text);
    expect(packets).toMatchObject([
      { params: { to: ['lou@x.example'], subject: 'Oven', body: 'It is hot.' }, needsInput: [] },
    ]);
    expect(remarks).toBe('');
  });
});

describe('nothing that is asked for is dropped in silence', () => {
  it.each([
    ['Bezahle den Maler und gib ihm Bescheid.', 'gib ihm Bescheid'],
    ['Book a room and tell them we are six.', 'tell them we are six'],
    ['Annule la salle de lundi.', "can't book, order, buy or cancel"],
    ['Cancela la sala del lunes.', "can't book, order, buy or cancel"],
    ['How many lamps did we repair last week?', "can't answer"],
    [
      'From: uwe@x.example\nSubject: Lamp\n\n> Where is it?\n\nTell him that it is on its way.',
      'Tell him that it is on its way.',
    ],
  ])('%s', (text, remark) => {
    const { packets, remarks } = draft(text);
    expect(packets).toEqual([]);
    expect(remarks).toContain(remark);
  });

  it('names what stands before a mail', () => {
    const { packets, remarks } = draft('Ask ops to repair the oven and email lou@x.example "It is repaired"');
    expect(packets).toMatchObject([{ params: { to: ['lou@x.example'] } }]);
    expect(remarks).toContain('repair the oven');
  });

  it('takes no day within what somebody is to be told for the time of sending', () => {
    const { remarks } = draft(
      'Dile a Marta que su mesa llega el jueves y a Lou (lou@x.example) que la suya no.',
    );
    expect(remarks).not.toContain('waited for');
  });
});
