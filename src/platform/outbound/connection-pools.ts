import { isIP, type LookupFunction } from 'node:net';
import { buildConnector, Pool } from 'undici';
import { ExchangeFailed } from './exchange-failed.js';

/** Milliseconds (CONTRACT, Webhooks), TLS included; undici counts in steps of half a second. */
const CONNECT_MS = 3_000;
/** Milliseconds before the next address of a host is tried as well. */
const NEXT_ADDRESS_MS = 500;
/** Addresses of one host that are tried at most. */
const ADDRESSES = 4;
/**
 * Milliseconds without a request after which a connection is closed: enough for a burst, and well below the 5 s after
 * which common servers close, since a request that crosses their closing is lost.
 */
const IDLE_MS = 2_000;
/** Hosts whose connections are kept at once; the one unused for longest goes. */
const POOLS = 256;
const HEADER_BYTES = 16 * 1024;

/** Where to dial. */
export interface Dial {
  url: URL;
  /** The addresses of its host that were checked a moment ago; no other is dialled. */
  addresses: readonly string[];
  /** The last look, at the address that the socket is really connected to. */
  isAllowed: (address: string) => boolean;
}

/**
 * Open connections, by origin and by the addresses that were checked. A host that resolves to something else gets
 * other connections, so that an old one never stands in for a new check. In flight there is one request a connection
 * and as many connections as requests, so that a receiver that hangs holds up nobody else.
 */
export class ConnectionPools {
  readonly #pools = new Map<string, Pool>();

  /** The connections for `dial`; use them at once, they may be closed later. */
  to(dial: Dial): Pool {
    const key = [dial.url.origin, ...dial.addresses.toSorted()].join(' ');
    const pool = this.#pools.get(key) ?? newPool(dial);
    this.#pools.delete(key);
    this.#pools.set(key, pool); // the last one used is the last to go
    const [oldest] = this.#pools;
    if (this.#pools.size > POOLS && oldest) {
      this.#pools.delete(oldest[0]);
      void oldest[1].close(); // lets requests in flight end
    }
    return pool;
  }

  /** Ends every connection, and the requests in flight with them. */
  async destroy(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
    this.#pools.clear();
  }
}

/** Opens connections to where {@link Dial} says, and to no other address. */
function connectorTo({ addresses, isAllowed }: Dial): buildConnector.connector {
  const connect = buildConnector({
    timeout: CONNECT_MS,
    allowH2: false,
    // Not to be switched off from the environment.
    rejectUnauthorized: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    // Host, SNI and the name in the certificate stay the URL's; only where to dial is decided here.
    lookup: pinnedTo(addresses.slice(0, ADDRESSES)),
  });
  return (options, done) =>
    connect(options, (...result) => {
      const [, socket] = result;
      if (!socket || isAllowed(socket.remoteAddress ?? '')) return done(...result);
      socket.destroy();
      done(new ExchangeFailed('address'), null);
    });
}

/** Connects, TLS included, and ends the connection without a word. */
export function touch(dial: Dial): Promise<void> {
  const { protocol, host, hostname, port } = dial.url;
  const options = { protocol, host, port, hostname: hostname.replace(/^\[(.*)\]$/, '$1') };
  return new Promise((resolve, reject) => {
    connectorTo(dial)(options, (error, socket) => {
      socket?.destroy();
      if (error) reject(error);
      else resolve();
    });
  });
}

function newPool(dial: Dial): Pool {
  return new Pool(dial.url.origin, {
    connect: connectorTo(dial),
    maxHeaderSize: HEADER_BYTES,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    // One signal bounds the whole exchange; these would not stop a slow drip.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** A lookup that knows the answer. */
function pinnedTo(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, _options, done) => done(null, found);
}
