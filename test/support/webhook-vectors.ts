import { readFileSync } from 'node:fs';

/** A body in full, or by rule where it is long: `head`, `repeat` so many `times`, `tail`. */
export type VectorBody = string | { head: string; repeat: string; times: number; tail: string };

interface AcceptedEvent {
  name: string;
  /** The current one first. */
  secrets: string[];
  id: string;
  /** When it was signed, and when it is checked, Unix milliseconds. */
  at: number;
  now: number;
  body: VectorBody;
  headers: Record<string, string>;
}

interface RefusedEvent {
  name: string;
  secret: string;
  now: number;
  body: VectorBody;
  headers: Record<string, string>;
  /** The libraries that let it pass, since they read headers less strictly than we do. */
  acceptedBy: ('stripe' | 'standardwebhooks')[];
}

interface PartnerVector {
  name: string;
  secrets: string[];
  body: string;
  header: string;
}

interface WebhookVectors {
  events: { accepted: AcceptedEvent[]; refused: RefusedEvent[] };
  partner: { accepted: PartnerVector[]; refused: PartnerVector[] };
}

const file = new URL('../vectors/webhooks.json', import.meta.url);

/** The vectors that anyone who signs or verifies can run (docs/webhooks.md, Test vectors). */
export const vectors = JSON.parse(readFileSync(file, 'utf8')) as WebhookVectors;

/** The bytes of a vector's body. */
export function bytesOf(body: VectorBody): Buffer {
  return Buffer.from(
    typeof body === 'string' ? body : body.head + body.repeat.repeat(body.times) + body.tail,
  );
}
