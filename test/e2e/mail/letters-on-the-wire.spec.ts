import PostalMime from 'postal-mime';
import { afterEach, describe, expect, it } from 'vitest';
import { type MailServer, type MailServerHabits, startMailServer } from './mail-server.js';
import { failure, sendTo } from './sending.js';

let server: MailServer;
const start = async (habits: MailServerHabits = {}) => (server = await startMailServer(habits));
afterEach(() => server.close());

const ENCODED = '=?utf-8?q?You_owe_nothing?=';

describe('what is typed as an encoded word', () => {
  it.each([
    ['alone', ENCODED],
    ['in base64', 'Invoice =?UTF-8?B?WW91IG93ZSBub3RoaW5n?= of May'],
    ['beside other letters', `Größe: ${ENCODED}`],
    ['more than a line long', `${ENCODED} ${'word '.repeat(30)}ü${ENCODED}`],
    ['half of one', '=?utf-8?q?You_owe'],
  ])('is read by the recipient as it was typed: %s', async (_case, subject) => {
    await start();
    await sendTo(server.url, { subject: subject.trim() });
    const [{ bytes }] = server.received as [MailServer['received'][number]];
    expect((await PostalMime.parse(bytes)).subject).toBe(subject.trim());
  });
});

describe('an address with letters beyond ASCII', () => {
  it('goes to a server that takes such addresses as it is', async () => {
    await start();
    const sent = await sendTo(server.url, { to: ['müller@bücher.example'] });
    expect(sent.rejected).toEqual([]);
    expect(server.wire().toString()).toMatch(/^MAIL FROM:<ada@acme\.example>.* SMTPUTF8/m);
    expect(server.received[0]!.to).toEqual(['müller@bücher.example']);
  });

  it('goes to any server where only its domain has such letters', async () => {
    await start({ options: { hideSMTPUTF8: true } });
    await sendTo(server.url, { to: ['jane@bücher.example'] });
    expect(server.wire().toString()).toContain('RCPT TO:<jane@xn--bcher-kva.example>');
  });

  it('is refused by name where the server takes none, and the others get the mail', async () => {
    await start({ options: { hideSMTPUTF8: true } });
    const sent = await sendTo(server.url, { to: ['müller@bücher.example', 'bob@buyer.example'] });
    expect(sent.accepted).toEqual(['bob@buyer.example']);
    expect(sent.rejected).toEqual([
      { address: 'müller@bücher.example', response: expect.stringContaining('SMTPUTF8') },
    ]);
    expect(server.received.map(({ to }) => to)).toEqual([['bob@buyer.example']]);
  });

  it('is a refusal where it is the only one', async () => {
    await start({ options: { hideSMTPUTF8: true } });
    const failed = await failure(sendTo(server.url, { to: ['müller@bücher.example'] }));
    expect(failed).toMatchObject({ code: 'refused', retryable: false });
    expect(failed.message).toContain('müller@bücher.example');
    expect(server.received).toEqual([]);
  });
});
