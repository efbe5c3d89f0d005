import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

interface ReceivedMail {
  from: string;
  to: string[];
  bytes: Buffer;
}

/** A real mail server, and in front of it a wire that can be read and cut. */
export interface MailServer {
  url: string;
  port: number;
  received: ReceivedMail[];
  /** Connections so far. */
  connections: number;
  /** Everything the client has said, in the bytes it said it. */
  wire(): Buffer;
  /** Resets the client's connection. */
  cut(): void;
  /** Connections that are open now. */
  open(): number;
  close(): Promise<void>;
}

export interface MailServerHabits {
  /** The reply to a recipient; undefined takes it. */
  recipient?: (address: string) => SMTPReply | undefined;
  /** The reply to the mail; undefined takes it. It may never come. */
  mail?: () => Promise<SMTPReply | undefined>;
  /** What the client hears in place of what the server says. */
  reply?: (text: string) => string;
  options?: SMTPServerOptions;
}

interface SMTPReply {
  code: number;
  text: string;
}

export async function startMailServer({
  recipient,
  mail,
  reply = (text) => text,
  options,
}: MailServerHabits = {}): Promise<MailServer> {
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    closeTimeout: 100,
    onRcptTo: ({ address }, _session, done) => done(asError(recipient?.(address))),
    onData: (stream, { envelope }, done) => {
      const take = async (bytes: Buffer) => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        server.received.push({ from, to: envelope.rcptTo.map(({ address }) => address), bytes });
        done(asError(await mail?.()));
      };
      buffer(stream).then(take, done);
    },
    ...options,
  });
  // A connection that is cut is what some tests are about.
  smtp.on('error', () => undefined);
  const behind = smtp.listen(0, '127.0.0.1');
  await new Promise((listening) => behind.once('listening', listening));

  const clients = new Set<Socket>();
  const said: Buffer[] = [];
  const front = createServer((client) => {
    server.connections++;
    clients.add(client);
    const onward = connect((behind.address() as AddressInfo).port, '127.0.0.1');
    client.on('data', (chunk: Buffer) => said.push(chunk));
    client.on('close', () => clients.delete(client) && onward.destroy());
    client.on('error', () => undefined);
    onward.on('error', () => undefined);
    client.pipe(onward);
    onward.on('data', (chunk: Buffer) => client.write(reply(chunk.toString('latin1')), 'latin1'));
    onward.on('end', () => client.end());
  });
  await new Promise<void>((listening) => front.listen(0, '127.0.0.1', listening));
  const { port } = front.address() as AddressInfo;

  const server: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    port,
    received: [],
    connections: 0,
    wire: () => Buffer.concat(said),
    cut: () => clients.forEach((client) => client.resetAndDestroy()),
    open: () => clients.size,
    close: async () => {
      clients.forEach((client) => client.destroy());
      front.close();
      await new Promise<void>((closed) => smtp.close(closed));
    },
  };
  return server;
}

function asError(reply: SMTPReply | undefined): Error | undefined {
  return reply && Object.assign(new Error(reply.text), { responseCode: reply.code });
}
