import http from 'node:http';
import { quantile } from './calls.js';
import { isQuick } from './size.js';

/** What a number of clients got done, each with one request after the other. */
export interface Load {
  perSecond: number;
  /** Milliseconds of each request. */
  latencies: number[];
}

/** The service and the bare handler, by rounds. */
export interface Comparison {
  ours: Load[];
  theirs: Load[];
}

export const CLIENTS = 16;
export const ROUNDS = isQuick ? 1 : 5;
export const ROUND_MS = 2_000;
const WARM_UP_MS = 1_500;
const TEXT = 'Email jane@acme.example, subject "Your order": Your order ships on Friday.';
let address = 0;

/** Rounds of one and the other in turn, so that a slow moment of the machine falls on both. */
export async function compare(
  service: string,
  bare: string,
  route: string,
  tokens: readonly string[],
): Promise<Comparison> {
  await load(service, route, tokens, CLIENTS, WARM_UP_MS);
  await load(bare, route, tokens, CLIENTS, WARM_UP_MS);
  const ours: Load[] = [];
  const theirs: Load[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await load(service, route, tokens, CLIENTS, ROUND_MS));
    theirs.push(await load(bare, route, tokens, CLIENTS, ROUND_MS));
  }
  return { ours, theirs };
}

/** One client at a time: what a single caller waits, as medians. */
export async function alone(service: string, bare: string, token: string) {
  const result: Record<string, { ours: number; theirs: number }> = {};
  for (const route of ['directive', 'context']) {
    await load(service, route, [token], 1, WARM_UP_MS);
    const ours = await load(service, route, [token], 1, ROUND_MS);
    await load(bare, route, [token], 1, WARM_UP_MS);
    const theirs = await load(bare, route, [token], 1, ROUND_MS);
    result[route] = { ours: quantile(ours.latencies, 0.5), theirs: quantile(theirs.latencies, 0.5) };
  }
  return result;
}

async function load(
  url: string,
  route: string,
  tokens: readonly string[],
  clients: number,
  forMs: number,
): Promise<Load> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: clients });
  const latencies: number[] = [];
  const until = performance.now() + forMs;
  let sent = 0;
  const client = async () => {
    while (performance.now() < until) {
      const began = performance.now();
      await request(agent, url, route, tokens[sent++ % tokens.length]!);
      latencies.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  agent.destroy();
  return { perSecond: latencies.length / (forMs / 1000), latencies };
}

/** A hand-in with a key of its own, or a read. */
export function request(agent: http.Agent, url: string, route: string, token: string): Promise<void> {
  const posts = route === 'directive';
  const body = posts ? JSON.stringify({ text: TEXT }) : '';
  // A new address each time: the limits count, and let everyone pass.
  const next = address++;
  const headers = {
    'x-service-token': token,
    'x-forwarded-for': `10.${(next >> 16) & 255}.${(next >> 8) & 255}.${next & 255}`,
    ...(posts && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'idempotency-key': `bench-${next}`,
    }),
  };
  return new Promise((resolve, reject) => {
    const sent = http.request(
      `${url}/api/pro/${route}`,
      { method: posts ? 'POST' : 'GET', agent, headers },
      (answer) => {
        answer.resume();
        answer.on('end', () =>
          answer.statusCode! < 300 ? resolve() : reject(new Error(`${route} answered ${answer.statusCode}`)),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
