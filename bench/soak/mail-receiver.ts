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
      const count = (mail: string) => {
        const messageId = /^Message-ID:\s*(\S+)/im.exec(mail)?.[1] ?? 'none';
        addTo(byMessageId, messageId);
        for (const { address } of envelope.rcptTo) addTo(byRecipient, address);
        done();
      };
      text(stream).then(count, done);
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

function addTo(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
