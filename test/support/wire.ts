import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Connection {
  closed: Promise<void>;
}

/** A wire in front of a server, which shows the connections of its clients. */
export class Wire {
  readonly #clients = new Map<Socket, Connection>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async to(behind: number): Promise<Wire> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const laid = new Wire(server, (server.address() as AddressInfo).port);
    server.on('connection', (client) => laid.connect(client, behind));
    return laid;
  }

  /** Those that are open now. */
  open(): Connection[] {
    return [...this.#clients.values()];
  }

  /** Ends every connection. */
  cut(): void {
    for (const client of this.#clients.keys()) client.destroy();
  }

  close(): void {
    this.cut();
    this.server.close();
  }

  private connect(client: Socket, behind: number): void {
    const onward = connect(behind, '127.0.0.1');
    const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
    this.#clients.set(client, { closed });
    client.on('close', () => {
      this.#clients.delete(client);
      onward.destroy();
    });
    client.on('error', () => undefined);
    onward.on('error', () => undefined);
    onward.on('close', () => client.destroy());
    client.pipe(onward).pipe(client);
  }
}
