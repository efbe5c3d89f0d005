import PostalMime from 'postal-mime';
import { afterEach, describe, expect, it } from 'vitest';
import type { MailMessage } from '../../../src/features/mail/mail-message.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { eventually } from '../../support/test-app.js';
import { type MailServer, type MailServerHabits, startMailServer } from './mail-server.js';
import { failure, sendTo } from './sending.js';

let server: MailServer;
afterEach(() => server.close());

const start = async (habits?: MailServerHabits): Promise<MailServer> =>
  (server = await startMailServer(habits));

const send = (change?: Partial<MailMessage>, signal?: AbortSignal) => sendTo(server.url, change, signal);

describe('a mail that the server takes', () => {
  it('arrives as it was written', async () => {
    await start();
    const id = newId('pkt');
    const before = Date.now();
    const sent = await send({
      id,
      to: ['bob@buyer.example', 'eve@buyer.example'],
      cc: ['carl@acme.example', 'bob@buyer.example'],
      subject:
        'Grüße — 価格 🚀 and a subject that is far longer than any one line of a header may be, so it is folded',
      replyTo: 'deals@acme.example',
    });
    const messageId = `<${id}@acme.example>`;
    const recipients = ['bob@buyer.example', 'eve@buyer.example', 'carl@acme.example'];
    expect(sent).toEqual({
      messageId,
      accepted: recipients,
      rejected: [],
      transport: 'smtp',
      response: expect.stringMatching(/^250 /),
    });
    expect(server.received).toHaveLength(1);
    const [{ from, to, bytes }] = server.received as [MailServer['received'][0]];
    expect({ from, to }).toEqual({ from: 'ada@acme.example', to: recipients });
    const mail = await PostalMime.parse(bytes);
    expect(mail).toMatchObject({
      messageId,
      from: { name: 'Ada, at Acme', address: 'ada@acme.example' },
      to: [{ address: 'bob@buyer.example' }, { address: 'eve@buyer.example' }],
      cc: [{ address: 'carl@acme.example' }, { address: 'bob@buyer.example' }],
      replyTo: [{ address: 'deals@acme.example' }],
      subject:
        'Grüße — 価格 🚀 and a subject that is far longer than any one line of a header may be, so it is folded',
      attachments: [],
    });
    expect(Math.abs(Date.parse(mail.date!) - before)).toBeLessThan(5000);
    expect(mail.text).toBe('Dear Bob,\n\nhere is our **offer**.\n');
    expect(mail.html).toBeUndefined();
  });

  it('is on the wire in lines of ASCII that end in CRLF, and ends with a dot', async () => {
    await start();
    await send({ subject: 'Größe', body: `${'Ünïcode '.repeat(300)}\n\n${'x'.repeat(3000)}` });
    const wire = await eventually(
      async () => server.wire().toString('latin1'),
      (text) => text.endsWith('QUIT\r\n'),
    );
    const [, data] = /\r\nDATA\r\n([\s\S]*)\r\n\.\r\nQUIT\r\n$/.exec(wire) ?? [];
    expect(data).toMatch(/^[\t\r\n\x20-\x7e]+$/);
    expect(data!.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(Math.max(...data!.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
    expect(wire).toMatch(/\r\nMAIL FROM:<ada@acme\.example>[^\r]*\r\n/);
    expect(wire).toContain('\r\nRCPT TO:<bob@buyer.example>\r\n');
  });

  it('keeps lines that begin with a dot, and one that is nothing else', async () => {
    await start();
    await send({ body: 'first\n\n.\n\n.hidden\n\n..\n\nlast' });
    const [{ bytes }] = server.received as [MailServer['received'][0]];
    expect((await PostalMime.parse(bytes)).text).toBe('first\n\n.\n\n.hidden\n\n..\n\nlast\n');
    const wire = server.wire().toString('latin1');
    for (const stuffed of ['\r\n..\r\n', '\r\n..hidden\r\n', '\r\n...\r\n']) expect(wire).toContain(stuffed);
  });

  it('has the same Message-ID and the same parts when it is sent again', async () => {
    await start();
    const id = newId('pkt');
    await send({ id });
    await send({ id });
    const [first, second] = server.received.map(({ bytes }) => bytes.toString().replace(/^Date: .*$/m, ''));
    expect(second).toBe(first);
  });

  it('tells which recipients were refused', async () => {
    await start({
      recipient: (address) => (address.startsWith('gone') ? { code: 550, text: 'no such user' } : undefined),
    });
    const sent = await send({ to: ['gone@buyer.example', 'bob@buyer.example'] });
    expect(sent.accepted).toEqual(['bob@buyer.example']);
    expect(sent.rejected).toEqual([
      { address: 'gone@buyer.example', response: expect.stringMatching(/^550 .*no such user/) },
    ]);
    expect(server.received).toHaveLength(1);
  });

  it('is told in 2 KiB without control characters, whatever the server says', async () => {
    const noise = `OK\0\u0007\u001b[2J${'x'.repeat(8_000)}`;
    await start({ reply: (text) => text.replace('OK: message queued', noise) });
    const { response } = await send();
    expect(response).toContain('OK\uFFFD\uFFFD\uFFFD[2J');
    expect(Buffer.byteLength(response)).toBeLessThanOrEqual(2_048);
  });

  it('leaves no connection behind', async () => {
    await start();
    await send();
    expect(
      await eventually(
        async () => server.open(),
        (open) => open === 0,
        2,
      ),
    ).toBe(0);
  });

  it.each([
    ['keeps the password where the server offers no encryption', '', 'login'],
    ['sends it all the same where SMTP_URL says so', '?requireTLS=false', null],
  ])('%s, beyond this machine', async (_what, parameters, code) => {
    const options = {
      authOptional: false,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onAuth: (_auth, _session, done) => done(null, { user: 'ada' }),
    } satisfies MailServerHabits['options'];
    await start({ options });
    // It reaches this machine, and is not one of its loopback addresses.
    const sending = sendTo(`smtp://ada:s3cret@0.0.0.0:${server.port}${parameters}`);
    if (code === null) {
      expect((await sending).accepted).toEqual(['bob@buyer.example']);
      return;
    }
    const error = await failure(sending);
    expect(error).toMatchObject({ code, message: expect.stringContaining('STARTTLS') });
    const wire = server.wire().toString();
    expect(wire).not.toContain('AUTH');
    expect(wire).not.toContain(Buffer.from('\0ada\0s3cret').toString('base64'));
  });

  it('is sent after signing in, where the URL has a name and a password', async () => {
    const options = {
      authOptional: false,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onAuth: ({ username, password }, _session, done) =>
        username === 'ada@acme' && password === 's:p/w' ? done(null, { user: 'ada' }) : done(new Error('no')),
    } satisfies MailServerHabits['options'];
    await start({ options });
    const url = (password: string) =>
      `smtp://ada%40acme:${encodeURIComponent(password)}@127.0.0.1:${server.port}`;
    expect((await sendTo(url('s:p/w'))).accepted).toEqual(['bob@buyer.example']);
    expect(await failure(sendTo(url('wrong')))).toMatchObject({
      code: 'login',
      message: 'The mail server refused the user name and password of SMTP_URL (reply 535).',
    });
    expect(server.received).toHaveLength(1);
  });
});

describe('a mail that the server refuses', () => {
  it('is refused for good by a 5xx for every recipient', async () => {
    await start({ recipient: () => ({ code: 550, text: 'no such user' }) });
    const error = await failure(send());
    expect(error).toMatchObject({ code: 'refused', retryable: false });
    expect(error.message).toContain('no such user');
    expect(server.wire().toString()).not.toContain('Message-ID');
  });

  it('is refused for good by a 5xx after the mail', async () => {
    await start({ mail: async () => ({ code: 554, text: 'looks like spam' }) });
    const error = await failure(send());
    expect(error).toMatchObject({ code: 'refused', retryable: false });
    expect(error.message).toContain('554 looks like spam');
  });

  it('may be sent again after a 4xx, before or after the mail', async () => {
    await start({ recipient: () => ({ code: 450, text: 'greylisted' }) });
    expect(await failure(send())).toMatchObject({ code: 'unreachable', retryable: true });
    await server.close();
    await start({ mail: async () => ({ code: 451, text: 'try later' }) });
    const error = await failure(send());
    expect(error).toMatchObject({ code: 'unreachable', retryable: true });
    expect(error.message).toContain('451 try later');
  });

  it('may be sent again when one of the recipients is only deferred', async () => {
    await start({
      recipient: (address) =>
        address.startsWith('gone') ? { code: 550, text: 'gone' } : { code: 450, text: 'greylisted' },
    });
    const error = await failure(send({ to: ['bob@buyer.example', 'gone@buyer.example'] }));
    expect(error).toMatchObject({ code: 'unreachable', retryable: true });
  });

  it('is refused when it is larger than the server takes', async () => {
    await start({ options: { size: 1000 } });
    const error = await failure(send({ body: 'x'.repeat(2000) }));
    expect(error).toMatchObject({ code: 'refused', retryable: false });
  });
});

describe('a mail that is no mail', () => {
  it.each([
    ['a line break in the subject', { subject: 'Hi\r\nBcc: eve@evil.example' }],
    ['a bare line feed in the subject', { subject: 'Hi\nBcc: eve@evil.example' }],
    ['a bare carriage return in the subject', { subject: 'Hi\rBcc: eve@evil.example' }],
    ['a line separator in the subject', { subject: 'Hi\u2028Bcc: eve@evil.example' }],
    ['a line break in a recipient', { to: ['bob@buyer.example\r\nRCPT TO:<eve@evil.example>'] }],
    ['a line break in a copy', { cc: ['bob@buyer.example\nBcc: eve@evil.example'] }],
    ['a line break in the address for answers', { replyTo: 'ada@acme.example\r\nX-Evil: 1' }],
    ['a line break in the id', { id: 'pkt_1\r\nX-Evil: 1' }],
    ['a path in the id', { id: '../../pkt_1' }],
    ['two addresses in one', { to: ['bob@buyer.example, eve@evil.example'] }],
    ['a name with an address', { to: ['Bob <bob@buyer.example>'] }],
    ['what is no address', { to: ['bob'] }],
    ['nobody to send it to', { to: [], cc: ['bob@buyer.example'] }],
  ])('is refused for %s, before any connection', async (_case, change) => {
    await start();
    expect(await failure(send(change))).toMatchObject({ code: 'refused', retryable: false });
    expect(server.connections).toBe(0);
  });
});
