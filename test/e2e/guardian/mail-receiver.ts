import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/** `recipient`: the mail is not yet let in. `answer`: it is in, and its sender waits to hear so. */
export type MailStep = 'recipient' | 'answer';

/** A real mail server for packets that each go to an address of their own: `<workPacketId>@...`. */
export class MailReceiver {
  /** The packets whose mail arrived whole, each time one did. */
  readonly received: string[] = [];
  /** Those of them that were not marked as sending when the mail began. */
  readonly unmarked: string[] = [];
  /** When each connection was closed, in Unix milliseconds. */
  readonly closed: number[] = [];
  /** How long the server takes over a step; it may be for ever. */
  delay: (step: MailStep, workPacketId: string) => Promise<unknown> | undefined = () => undefined;
  readonly #waiting = new Set<() => void>();

  private constructor(
    private readonly smtp: SMTPServer,
    readonly url: string,
  ) {}

  /** @param begins notes that the mail of a packet begins; answers the packet's status just then */
  static async start(begins: (workPacketId: string) => Promise<string>): Promise<MailReceiver> {
    const idOf = (address: string) => address.slice(0, address.indexOf('@'));
    const smtp: SMTPServer = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      disableReverseLookup: true,
      closeTimeout: 100,
      onClose: () => receiver.hungUp(),
      onRcptTo: ({ address }, _session, done) => {
        void (async () => {
          await receiver.delay('recipient', idOf(address));
          done();
        })();
      },
      onData: (stream, { envelope }, done) => {
        void (async () => {
          const workPacketId = idOf(envelope.rcptTo[0]!.address);
          const status = begins(workPacketId);
          const whole = await buffer(stream).catch(() => undefined);
          if (!whole) return;
          receiver.received.push(workPacketId);
          if ((await status) !== 'sending') receiver.unmarked.push(workPacketId);
          await receiver.delay('answer', workPacketId);
          done();
        })();
      },
    });
    // A sender that hangs up is what the tests are about.
    smtp.on('error', () => undefined);
    const server = smtp.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const receiver = new MailReceiver(smtp, `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return receiver;
  }

  /** How often the mail of this packet came. */
  times(workPacketId: string): number {
    return this.received.filter((id) => id === workPacketId).length;
  }

  /** Ends when the next connection is closed. */
  nextHangUp(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  close(): Promise<void> {
    return new Promise((closed) => this.smtp.close(closed));
  }

  private hungUp(): void {
    this.closed.push(performance.timeOrigin + performance.now());
    for (const told of this.#waiting) told();
    this.#waiting.clear();
  }
}
