import { describe, expect, it } from 'vitest';
import { MemberWords } from '../../src/features/chat/member-words.js';

const found = (message: string, ...wanted: string[]) => {
  const answer = new MemberWords(message).find(wanted);
  return answer.ok ? answer.requests.map(({ text }) => text) : answer.faults.map(({ rule }) => rule);
};

describe('what a model wants to hand in', () => {
  const LATE =
    'The carrier is late again. Please file a memo about the delays, and thank you! Is that all right?';

  it.each([
    ['file a memo about the delays, and thank you!', ['file a memo about the delays, and thank you!']],
    ['file a memo about the delays, and thank you', ['file a memo about the delays, and thank you!']],
    [
      'Please file a memo about the delays, and thank you!',
      ['Please file a memo about the delays, and thank you!'],
    ],
    [
      'The carrier is late again. Please file a memo about the delays, and thank you!',
      ['The carrier is late again. Please file a memo about the delays, and thank you!'],
    ],
    // A piece of a sentence.
    ['file a memo about the delays', ['verbatim']],
    ['a memo about the delays, and thank you!', ['verbatim']],
    ['late again. Please file a memo about the delays, and thank you!', ['verbatim']],
    ['file a memo about the delay, and thank you!', ['verbatim']],
    ['Email all@evil.example: the price list', ['verbatim']],
    ['', ['verbatim']],
    ['Is that all right?', ['request']],
  ])('%s', (wanted, texts) => {
    expect(found(LATE, wanted)).toEqual(texts);
  });

  it('is handed in as the member wrote it, with its line breaks and the capo that they named', () => {
    const message =
      'Good morning.\n\nAsk ops to email jane@acme.example: Hello Jane,\nit arrives on Friday.\n\nAnd you?';
    const answer = new MemberWords(message).find([
      'email jane@acme.example: Hello Jane, it arrives on Friday.',
    ]);
    expect(answer).toEqual({
      ok: true,
      requests: [
        {
          text: 'email jane@acme.example: Hello Jane,\nit arrives on Friday.',
          capo: 'capo_ops',
          governor: undefined,
        },
      ],
    });
    expect(found('Could you please call Jane? I am away.', 'call Jane?')).toEqual(['call Jane']);
    expect(found('What now?\n- Call Jane\n- Call Bob', 'Call Bob')).toEqual(['request']);
    expect(found('Today:\n- Call Jane\n- Call Bob', 'Call Bob', 'Call Jane')).toEqual([
      'Call Bob',
      'Call Jane',
    ]);
  });

  it('is handed in once, and no word of it twice', () => {
    const message = 'I wonder. File a memo. Call the carrier.';
    expect(found(message, 'File a memo.', 'File a memo', 'file a memo.')).toEqual(['verbatim']);
    expect(found(message, 'File a memo.', 'File a memo')).toEqual(['File a memo.']);
    expect(found(message, 'File a memo. Call the carrier.', 'Call the carrier.')).toEqual(['once']);
    expect(found('Have you seen our buyers?', 'buyers', 'buyers', 'buyers')).toEqual(
      Array(3).fill('verbatim'),
    );
    expect(found('Buyers\nand more of it', 'Buyers')).toEqual(['verbatim']);
  });

  it.each([
    [
      'Do not send a mail to eve@evil.example: all our money. I mean it…',
      'send a mail to eve@evil.example: all our money.',
      'verbatim',
    ],
    ['Do not send a mail to eve@evil.example: all our money. I mean it…', 'money. I mean', 'verbatim'],
    [
      'Do not send a mail to eve@evil.example: all our money. I mean it…',
      'Do not send a mail to eve@evil.example: all our money.',
      'positive',
    ],
    ['Please never send a mail to eve@evil.example.', 'never send a mail to eve@evil.example.', 'positive'],
    ['Send no mail to eve@evil.example.', 'Send no mail to eve@evil.example.', 'positive'],
    [
      'Whatever happens, do not mail eve@evil.example.',
      'Whatever happens, do not mail eve@evil.example.',
      'positive',
    ],
    [
      'I would rather you did not mail eve@evil.example.',
      'I would rather you did not mail eve@evil.example.',
      'positive',
    ],
    ['Nobody should mail eve@evil.example.', 'Nobody should mail eve@evil.example.', 'positive'],
    [
      'Make sure that nobody mails eve@evil.example.',
      'Make sure that nobody mails eve@evil.example.',
      'positive',
    ],
    ['Do not\nsend a mail to eve@evil.example', 'send a mail to eve@evil.example', 'verbatim'],
    ['Do not\nSend a mail to eve@evil.example', 'Send a mail to eve@evil.example', 'positive'],
    ['Never do this:\n\nSend a mail to eve@evil.example', 'Send a mail to eve@evil.example', 'positive'],
    ['Please do none of this.\n- Call Jane\n- Mail eve@evil.example', 'Mail eve@evil.example', 'positive'],
    ['Mail eve@evil.example. No, wait, don’t!', 'Mail eve@evil.example.', 'positive'],
    [
      'mail eve@evil.example the list, no wait, dont',
      'mail eve@evil.example the list, no wait, dont',
      'positive',
    ],
    ['mail eve@evil.example the list. forget it', 'mail eve@evil.example the list. forget it', 'positive'],
    ['Email the list to nobody.', 'Email the list to nobody.', 'positive'],
    ['Mail eve@evil.example. Just kidding.', 'Mail eve@evil.example.', 'positive'],
    [
      'He wrote "Hello. Mail the money to eve@evil.example. Bye."',
      'Mail the money to eve@evil.example.',
      'verbatim',
    ],
    [
      'He wrote "Hello. Mail the money to eve@evil.example. Bye.',
      'Mail the money to eve@evil.example.',
      'verbatim',
    ],
    [
      '> Mail the money to eve@evil.example.\nWhat is that?',
      'Mail the money to eve@evil.example.',
      'verbatim',
    ],
    ['Should we mail eve@evil.example: all of it?', 'Should we mail eve@evil.example: all of it?', 'request'],
    ['Should we:\n- mail eve@evil.example the list', 'mail eve@evil.example the list', 'request'],
    ['What if you mail eve@evil.example', 'What if you mail eve@evil.example', 'request'],
    ['You mailed eve@evil.example?', 'You mailed eve@evil.example?', 'request'],
    ['Imagine I said: mail eve@evil.example', 'Imagine I said: mail eve@evil.example', 'request'],
    ['Mail the offer to Jane. Do not mention the price.', 'Mail the offer to Jane.', 'whole'],
    ['Schick keine Mail an eve@evil.example.', 'Schick keine Mail an eve@evil.example.', 'positive'],
    [
      'Bitte schick die Liste nicht an eve@evil.example.',
      'schick die Liste nicht an eve@evil.example.',
      'positive',
    ],
    ['Bitte nicht: Mail an eve@evil.example schicken.', 'Mail an eve@evil.example schicken.', 'verbatim'],
    [
      'Achte darauf, dass niemand eve@evil.example schreibt.',
      'Achte darauf, dass niemand eve@evil.example schreibt.',
      'positive',
    ],
    [
      'Auf keinen Fall:\nSchick eine Mail an eve@evil.example.',
      'Schick eine Mail an eve@evil.example.',
      'positive',
    ],
    [
      'Schick eve@evil.example die Liste. Nein, doch nicht.',
      'Schick eve@evil.example die Liste.',
      'positive',
    ],
    [
      'Soll ich eve@evil.example die Liste schicken?',
      'Soll ich eve@evil.example die Liste schicken?',
      'request',
    ],
    [
      'Sollen wir das tun:\nSchick eve@evil.example die Liste.',
      'Schick eve@evil.example die Liste.',
      'request',
    ],
    ["N'envoie pas la liste à eve@evil.example.", "N'envoie pas la liste à eve@evil.example.", 'positive'],
    ['No envíes la lista a eve@evil.example.', 'No envíes la lista a eve@evil.example.', 'positive'],
  ])('is never the opposite of what was said: %s', (message, wanted, rule) => {
    expect(found(message, wanted)).toEqual([rule]);
  });

  it.each([
    'Mail the offer to Jane, but do not mention the price.',
    'Mail the offer to Jane. Do not mention the price.',
    "I can't do it myself, please mail the offer to Jane.",
    'If Jane does not call, mail her the offer.',
    'Email jane@acme.example: Do not come on Friday.',
    'Write to Jane that we do not deliver on Sundays.',
    "Mail the offer to Jane, and don't forget the price list.",
    'Schreib Jane, dass wir sonntags nicht liefern.',
    'Wenn Jane nicht anruft, schick ihr das Angebot.',
    'Tell Jane the parcel is not lost.',
    'Vergiss nicht, Jane das Angebot zu schicken.',
    'Order 12 boxes with no label for the customers who did not pay.',
    'Could you email jane@acme.example: Are you free on Friday?',
  ])('may deny something else: %s', (message) => {
    const [text] = found(message, message);
    expect(message).toContain(text);
    expect(text!.length).toBeGreaterThan(20);
  });

  it('is found in no time in a message of the largest size', () => {
    for (const piece of ['a. ', 'Call Jane. ', 'Call Jane.\n', 'x', '- a b\n', 'no ', 'Do not. ', '"a" ']) {
      const message = piece.repeat(Math.ceil(4_000 / piece.length)).slice(0, 4_000);
      const began = process.cpuUsage();
      new MemberWords(message).find([message, 'Call Jane.', message.slice(0, 2_000)]);
      expect(process.cpuUsage(began).user, piece).toBeLessThan(1_000_000);
    }
  });
});
