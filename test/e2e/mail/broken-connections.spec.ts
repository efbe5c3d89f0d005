import { type AddressInfo, createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { compose, type MailMessage } from '../../../src/features/mail/mail-message.js';
import { Smtp } from '../../../src/features/mail/mailer.js';
import { eventually } from '../../support/test-app.js';
import { type MailServer, type MailServerHabits, startMailServer } from './mail-server.js';
import { failure, FROM, message, sendTo } from './sending.js';

let server: MailServer;
afterEach(() => server.close());

const start = async (habits?: MailServerHabits): Promise<MailServer> =>
  (server = await startMailServer(habits));

const send = (change?: Partial<MailMessage>, signal?: AbortSignal) => sendTo(server.url, change, signal);

describe('a connection that breaks', () => {
  it('leaves the mail unconfirmed once it had begun to go over', async () => {
    await start({
      mail: async () => {
        server.cut();
        return undefined;
      },
    });
    const error = await failure(send());
    expect(error).toMatchObject({ code: 'unconfirmed', retryable: false });
    expect(server.received).toHaveLength(1);
  });

  it('leaves the mail unconfirmed when the server never says whether it took it', async () => {
    await start({ mail: () => new Promise(() => undefined) });
    const mail = await compose(message(), FROM, Date.now());
    const error = await failure(new Smtp(server.url, 300).deliver(mail, new AbortController().signal));
    expect(error).toMatchObject({ code: 'unconfirmed', retryable: false });
  });

  it('has handed nothing over before that', async () => {
    await start({
      recipient: () => {
        server.cut();
        return undefined;
      },
    });
    expect(await failure(send())).toMatchObject({ code: 'unreachable', retryable: true });
    expect(server.received).toEqual([]);
  });

  it('has handed nothing over when nobody listens', async () => {
    await start();
    await server.close();
    expect(await failure(send())).toMatchObject({ code: 'unreachable', retryable: true });
  });

  it('has handed nothing over when the server never greets', async () => {
    await start();
    const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await new Promise((listening) => silent.once('listening', listening));
    const url = `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const mail = await compose(message(), FROM, Date.now());
    const error = await failure(new Smtp(url, 300).deliver(mail, new AbortController().signal));
    expect(error).toMatchObject({ code: 'unreachable', retryable: true });
    silent.close();
  });

  it('is not made insecure: a certificate that nobody vouches for ends it before the mail', async () => {
    await start({ options: { disabledCommands: ['AUTH'] } });
    expect(await failure(send())).toMatchObject({ code: 'unreachable', retryable: true });
    expect(server.wire().toString('latin1')).not.toContain('MAIL FROM');
  });
});

describe('sending that is aborted', () => {
  it('does not begin', async () => {
    await start();
    expect(await failure(send({}, AbortSignal.abort()))).toMatchObject({
      code: 'unreachable',
      retryable: true,
    });
    expect(server.connections).toBe(0);
  });

  it('hands nothing over when the mail has not begun to go over', async () => {
    const calling = new AbortController();
    await start({
      recipient: () => {
        calling.abort();
        return undefined;
      },
    });
    expect(await failure(send({}, calling.signal))).toMatchObject({ code: 'unreachable', retryable: true });
    await eventually(
      async () => server.open(),
      (open) => open === 0,
      7,
    );
    expect(server.received).toEqual([]);
  });

  it('still learns what becomes of the mail when it has', async () => {
    const calling = new AbortController();
    await start({
      mail: async () => {
        calling.abort();
        // Whoever listens to the signal has been told, and has had its turn.
        await setImmediate();
        return undefined;
      },
    });
    expect(await send({}, calling.signal)).toMatchObject({ response: expect.stringMatching(/^250 /) });
  });

  it('leaves the mail unconfirmed when the server does not say so soon', async () => {
    const calling = new AbortController();
    await start({
      mail: () => {
        calling.abort();
        return new Promise(() => undefined);
      },
    });
    expect(await failure(send({}, calling.signal))).toMatchObject({ code: 'unconfirmed', retryable: false });
  });
});
