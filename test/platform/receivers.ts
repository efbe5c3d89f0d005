import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TestCertificate } from '../support/certificates.js';

/** A receiver that is nothing but a socket, so that it can do what no HTTP server would. */
export interface Receiver {
  port: number;
  /** How often somebody connected. */
  connections: number;
  /** The first 64 KiB that came, of all connections. */
  received: string;
  /** Bytes handed to the system for sending. */
  sent: () => number;
  /** How many connections are open. */
  open: () => number;
}

type Behaviour = (socket: Socket) => void;

const KEPT = 65_536;
const running: Server[] = [];
const sockets = new Set<Socket>();

/** Listens on loopback; `behave` is called once the head of a request has come, or with `atOnce` when connected. */
export async function receiver(
  behave: Behaviour,
  options: { host?: string; port?: number; atOnce?: boolean; tls?: TestCertificate } = {},
): Promise<Receiver> {
  const mine: Socket[] = [];
  const state: Receiver = {
    port: 0,
    connections: 0,
    received: '',
    sent: () => mine.reduce((sum, socket) => sum + socket.bytesWritten, 0),
    open: () => mine.filter((socket) => !socket.destroyed).length,
  };
  const serve = (socket: Socket) => {
    mine.push(socket);
    let head = '';
    if (options.atOnce) behave(socket);
    socket.on('data', (chunk: Buffer) => {
      state.received += chunk.toString('latin1', 0, KEPT - state.received.length);
      head += chunk.toString('latin1', 0, KEPT - head.length);
      if (options.atOnce || !head.includes('\r\n\r\n')) return;
      head = '';
      behave(socket);
    });
  };
  const server = options.tls ? createTlsServer(options.tls, serve) : createServer(serve);
  server.on('tlsClientError', () => undefined);
  server.on('connection', (socket: Socket) => {
    state.connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  running.push(server);
  state.port = (server.address() as AddressInfo).port;
  return state;
}

/** Answers and keeps the connection. */
export function answering(status: number, headers: Record<string, string> = {}, body = 'ok'): Behaviour {
  const lines = Object.entries({ 'Content-Length': String(Buffer.byteLength(body)), ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return (socket) => socket.write(`HTTP/1.1 ${status} Test\r\n${head}\r\n${body}`);
}

/** Ends every receiver and its connections. */
export async function closeReceivers(): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await Promise.all(running.splice(0).map((server) => new Promise((done) => server.close(done))));
}
