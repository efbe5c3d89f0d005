import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/** A mail server on the loopback that keeps of each mail how often it came: by its Message-ID, and by its recipient. */
export interface MailReceiver {
  url: string;
  byMessageId: ReadonlyMap<string, number>;
  byRecipient: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

export async function startMailReceiver(): Promise<MailReceiver> {
  const byMessageId = new Map<string, number>();
  const byRecipient = new Map<string, number>();
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    closeTimeout: 100,
    onData: (stream, { envelope }, done) => {
      text(stream).then((mail) => {
        const messageId = /^Message-ID:\s*(\S+)/im.exec(mail)?.[1] ?? 'none';
        byMessageId.set(messageId, (byMessageId.get(messageId) ?? 0) + 1);
        for (const { address } of envelope.rcptTo) {
          byRecipient.set(address, (byRecipient.get(address) ?? 0) + 1);
        }
        done();
      }, done);
    },
  });
  // A client that goes away is the client's affair.
  smtp.on('error', () => undefined);
  const server = smtp.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    byMessageId,
    byRecipient,
    close: () => new Promise((resolve) => smtp.close(() => resolve())),
  };
}
