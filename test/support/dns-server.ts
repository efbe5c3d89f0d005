import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Resolver } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { NameResolver } from '../../src/platform/outbound/name-resolver.js';

export interface DnsServer {
  /** For `Resolver.setServers`. */
  address: string;
  /** The names that were asked for, each once for every question. */
  asked: string[];
  close(): Promise<void>;
}

/** Asks this name server and no other. */
export class AskingResolver extends NameResolver {
  constructor(private readonly server: DnsServer) {
    super();
  }

  protected override resolver(): Resolver {
    const resolver = super.resolver();
    resolver.setServers([this.server.address]);
    return resolver;
  }
}

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NO_SUCH_NAME = 3;

/**
 * A name server on loopback (RFC 1035, as much of it as an address needs). The addresses of a name are those of the
 * table as it stands when the question comes; `silence` is never answered.
 */
export async function startDnsServer(table: Record<string, string[] | 'silence'>): Promise<DnsServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    asked.push(name);
    const found = table[name];
    if (found === 'silence') return;
    const addresses = (found ?? []).filter((one) => (isIPv6(one) ? TYPE_AAAA : TYPE_A) === type);
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (found ? 0 : NO_SUCH_NAME), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...addresses.map(record)]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  while (query[at]! > 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    at += 1 + query[at]!;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** One address of the name in the question; valid for no time at all. */
function record(address: string): Buffer {
  const bytes = bytesOf(address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(bytes.length === 4 ? TYPE_A : TYPE_AAAA, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}

function bytesOf(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  const [before, after] = address.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const groups = after
    ? [...before!, ...Array<string>(8 - before!.length - after.length).fill('0'), ...after]
    : before!;
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
