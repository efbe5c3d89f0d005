import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose } from '../../../src/features/mail/mail-message.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { type MailServer, startMailServer } from './mail-server.js';
import { sendTo } from './sending.js';

let server: MailServer;
beforeAll(async () => (server = await startMailServer()));
afterAll(() => server.close());

/** The decoded body of the one mail that arrived, with LF line ends. */
async function arrived(body: string): Promise<{ text: string; html: string | undefined }> {
  server.received.length = 0;
  await sendTo(server.url, { body });
  expect(server.received).toHaveLength(1);
  const { bytes } = server.received[0]!;
  expect(bytes.toString('latin1')).toMatch(/^Content-Type: text\/plain; charset=utf-8\r$/m);
  const { text, html } = await PostalMime.parse(bytes);
  return { text: text!.replaceAll('\r\n', '\n'), html };
}

describe('the body of a mail to somebody outside', () => {
  it.each([
    ['signs of emphasis', 'Your PIN is 5*3*2 and __init__'],
    ['signs that strike out', '2 ~~not~~ 3'],
    ['sums', '1*2 and 3*4'],
    ['a path', String.raw`C:\_tmp\!x`],
    ['a table', 'a | b\n--|--\n1 | 2 | 3\n| x | y | z |'],
    ['a year at the beginning', '1986. A great year\n7. one\n3. two'],
    ['a definition of a link', 'Pay here.\n\n[pay]: http://pay.example/x "y"\n\n[pay]'],
    ['an address between angle brackets', '<x@y> and <https://acme.example/o>'],
    ['entities', '&#78; &amp; &nbsp; &copy;'],
    ['HTML', '<b>bold</b> <!-- not hidden --> <script>alert(1)</script> <img src=x>'],
    ['blank lines', `first${'\n'.repeat(3_000)}last`],
    [
      'headings, rules, quotes and code',
      '# One\n\n---\n\n> said\n\n```js\nlet a = 1;\n```\n    indented `x`',
    ],
    ['links with other words', 'see [your bank](https://elsewhere.example) ![logo](https://x.example/p.png)'],
    ['spaces, tabs and what follows them', '  two\tand  more \n \n\t\nlast  '],
    ['lines that a mail server reads in its own way', '.\n..\nFrom me\n=20\n--\n-- \nx='],
    ['long lines and every script', `${'ä価🚀 '.repeat(400)}\u2028${'x'.repeat(3_000)}`],
    ['lone carriage returns', 'one\rtwo'],
  ])('arrives as it was approved: %s', async (_what, body) => {
    const { text, html } = await arrived(body);
    // The mail ends with a line end of its own.
    expect(text.replace(/\n$/, '')).toBe(body.replaceAll(/\r\n?/g, '\n').replace(/\n$/, ''));
    expect(html).toBeUndefined();
  });
});

describe('the headers of a mail that its reader can end', () => {
  const headersOf = async (unsubscribeUrl: string) => {
    const mail = { id: newId('ntf'), to: ['b@x.example'], subject: 'News', body: 'One', unsubscribeUrl };
    const { headers } = await PostalMime.parse((await compose(mail, 'ada@acme.example', 0)).bytes);
    return headers.filter(({ key }) => key.startsWith('list-')).map(({ key, value }) => [key, value]);
  };
  const path = `/unsubscribe/d${'0a1b2c3d'.repeat(16)}`;

  it('name the address in one piece, and one click where it is https', async () => {
    expect(await headersOf(`https://northwind.example${path}`)).toEqual([
      ['list-unsubscribe', `<https://northwind.example${path}>`],
      ['list-unsubscribe-post', 'List-Unsubscribe=One-Click'],
    ]);
    expect(await headersOf(`http://127.0.0.1:3000${path}`)).toEqual([
      ['list-unsubscribe', `<http://127.0.0.1:3000${path}>`],
    ]);
  });
});
