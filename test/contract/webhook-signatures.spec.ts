import { createHmac } from 'node:crypto';
import { sign as octokitSign, verify as octokitVerify, verifyWithFallback } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isBodySignature, signBody } from '../../src/platform/signatures/body-signature.js';
import { newSigningSecret, signEvent } from '../../src/platform/signatures/event-signature.js';
import { verifyEvent } from '../../src/platform/signatures/verify-event.js';
import { flippedBits, flippedHeaders } from '../support/flipped-bits.js';
import { bytesOf, vectors } from '../support/webhook-vectors.js';

const SERVICE = 'X-Service-Signature';
const TOLERANCE_SECONDS = 300;

type Headers = Record<string, string>;

/** The event as Stripe's library reads it. */
function stripe(body: Buffer, headers: Headers, secret: string, now: number): unknown {
  const header = headers[SERVICE] ?? '';
  return Stripe.webhooks.constructEvent(body, header, secret, TOLERANCE_SECONDS, undefined, now);
}

/** A generated secret goes to a Standard Webhooks library as it is, a chosen one as raw bytes. */
const standardWebhook = (secret: string, generated: boolean) =>
  generated ? new Webhook(secret) : new Webhook(new TextEncoder().encode(secret), { format: 'raw' });

const isGenerated = (secret: string) => /^whsec_[A-Za-z0-9+/]{43}=$/.test(secret);

/** The event as the library of Standard Webhooks reads it; it has no clock but the system's. */
function standard(body: Buffer, headers: Headers, secret: string, now: number): unknown {
  vi.setSystemTime(now);
  return standardWebhook(secret, isGenerated(secret)).verify(body, headers);
}

function accepts(verify: () => unknown): boolean {
  try {
    verify();
    return true;
  } catch {
    return false;
  }
}

afterEach(() => {
  vi.useRealTimers();
});

describe('an accepted vector', () => {
  const { accepted } = vectors.events;

  it('covers 64 KiB, both separators, an empty payload and two secrets', () => {
    const bodies = accepted.map(({ body }) => bytesOf(body).toString());
    expect(Math.max(...bodies.map((body) => Buffer.byteLength(body)))).toBe(65_536);
    expect(bodies.some((body) => body.includes('\u2028') && body.includes('\u2029'))).toBe(true);
    expect(bodies.some((body) => body.endsWith('"payload":{}}'))).toBe(true);
    expect(accepted.some(({ secrets }) => secrets.length === 2)).toBe(true);
  });

  describe.each(accepted)('of $name', ({ secrets, id, at, now, body, headers }) => {
    const bytes = bytesOf(body);

    it('is what we sign', () => {
      expect(signEvent({ body: bytes, at, id, secrets })).toEqual(headers);
      expect(signEvent({ body: bytes.toString(), at, id, secrets })).toEqual(headers);
    });

    it.each(secrets)('is verified with %j by our verifier, stripe and standardwebhooks', (secret) => {
      const event: unknown = JSON.parse(bytes.toString());
      expect(verifyEvent({ header: headers[SERVICE], body: bytes, secret, now })).toBe(true);
      expect(stripe(bytes, headers, secret, now)).toEqual(event);
      expect(standard(bytes, headers, secret, now)).toEqual(event);
    });

    it.each(secrets)('is verified with %j by standardwebhooks as whsec_<base64> too', (secret) => {
      vi.setSystemTime(now);
      const written = isGenerated(secret) ? secret : `whsec_${Buffer.from(secret).toString('base64')}`;
      expect(accepts(() => new Webhook(written).verify(bytes, headers))).toBe(true);
    });
  });
});

describe('a refused vector', () => {
  it.each(vectors.events.refused)('of $name', ({ secret, now, body, headers, acceptedBy }) => {
    const bytes = bytesOf(body);
    expect(SERVICE in headers || 'webhook-timestamp' in headers).toBe(true);
    if (SERVICE in headers) {
      expect(verifyEvent({ header: headers[SERVICE], body: bytes, secret, now })).toBe(false);
      expect(accepts(() => stripe(bytes, headers, secret, now))).toBe(acceptedBy.includes('stripe'));
    }
    if ('webhook-timestamp' in headers) {
      expect(accepts(() => standard(bytes, headers, secret, now))).toBe(
        acceptedBy.includes('standardwebhooks'),
      );
    }
  });
});

describe('a signed event', () => {
  const at = Date.UTC(2026, 0, 1);
  const secretTexts = fc.oneof(
    fc.constant(undefined).map(newSigningSecret),
    fc.string({ minLength: 16, maxLength: 256, unit: 'grapheme' }).filter((text) => text.trim() !== ''),
    fc.base64String({ minLength: 16, maxLength: 256 }),
  );
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('\u2028', '\u2029', '\0', '"', '\\', '/', '\u{1f9fe}', 'é') }),
  );
  const bodies = fc
    .record({ value: fc.jsonValue(), text: texts, size: fc.oneof(fc.nat(1_000), fc.nat(65_000)) })
    .map(({ value, text, size }) => {
      const bytes = Buffer.byteLength(JSON.stringify(text)) - 2;
      const payload = { value, text: text.repeat(bytes > 0 ? Math.ceil(size / bytes) : 0) };
      return Buffer.from(JSON.stringify({ event: 'directive.created', timestamp: at, payload }));
    })
    .filter((body) => body.length <= 65_536);

  it('is verified by both libraries, whatever its payload and its secrets', { timeout: 120_000 }, () => {
    const sizes: number[] = [];
    let separators = 0;
    fc.assert(
      fc.property(bodies, fc.array(secretTexts, { minLength: 1, maxLength: 2 }), (body, secrets) => {
        sizes.push(body.length);
        if (body.includes('\u2028') && body.includes('\u2029')) separators++;
        const signed = signEvent({ body, at, id: 'evt_01kdv9z4v0000000000000000x', secrets });
        const headers: Headers = { ...signed };
        const event: unknown = JSON.parse(body.toString());
        for (const secret of secrets) {
          expect(verifyEvent({ header: headers[SERVICE], body, secret, now: at })).toBe(true);
          expect(stripe(body, headers, secret, at)).toEqual(event);
          expect(standard(body, headers, secret, at)).toEqual(event);
        }
      }),
      { numRuns: 1_000 },
    );
    expect(sizes).toHaveLength(1_000);
    expect(Math.max(...sizes)).toBeGreaterThan(60_000);
    expect(separators).toBeGreaterThan(50);
  });

  const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
  const body = Buffer.from('{"event":"kill.activated","payload":{}}');
  const headers: Headers = { ...signEvent({ body, at, id: 'evt_1', secrets: [secret] }) };

  it('is refused by both libraries when any bit of its body has changed', () => {
    const changed = flippedBits(body);
    expect(changed.filter((bytes) => accepts(() => stripe(bytes, headers, secret, at)))).toEqual([]);
    expect(changed.filter((bytes) => accepts(() => standard(bytes, headers, secret, at)))).toEqual([]);
  });

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
    'is refused by standardwebhooks when any bit of %s has changed',
    (name) => {
      const changed = flippedHeaders(headers[name]!);
      expect(
        changed.filter((value) => accepts(() => standard(body, { ...headers, [name]: value }, secret, at))),
      ).toEqual([]);
    },
  );

  it.each([-301_000, -300_001, -300_000, 0, 300_000, 300_999, 301_000])(
    'is judged as by standardwebhooks %d ms after it was signed',
    (ms) => {
      expect(verifyEvent({ header: headers[SERVICE], body, secret, now: at + ms })).toBe(
        accepts(() => standard(body, headers, secret, at + ms)),
      );
    },
  );
});

describe("a partner's signature", () => {
  it.each(vectors.partner.accepted)(
    'is accepted, by octokit too: $name',
    async ({ secrets, body, header }) => {
      const [current, ...previous] = secrets;
      expect(isBodySignature(header, Buffer.from(body), secrets)).toBe(true);
      expect(await verifyWithFallback(current!, body, header, previous)).toBe(true);
    },
  );

  it.each(vectors.partner.refused)('is refused: $name', ({ secrets, body, header }) => {
    expect(isBodySignature(header, Buffer.from(body), secrets)).toBe(false);
  });

  it('made by octokit is accepted, and ours by octokit', async () => {
    const texts = fc.string({ unit: 'binary', minLength: 1, maxLength: 2_000 });
    const property = fc.asyncProperty(texts, texts, async (body, secret) => {
      const bytes = Buffer.from(body);
      expect(isBodySignature(await octokitSign(secret, body), bytes, [secret])).toBe(true);
      expect(await octokitVerify(secret, body, signBody(bytes, secret))).toBe(true);
    });
    await fc.assert(property, { numRuns: 1_000 });
  });

  it('of one direction is not one of the other', () => {
    const secret = 'correct horse battery staple';
    const body = Buffer.from('{"a":1}');
    const digest = createHmac('sha256', secret).update(body).digest('hex');
    expect(isBodySignature(`sha256=${digest}`, body, [secret])).toBe(true);
    expect(verifyEvent({ header: `t=1,v1=${digest}`, body, secret, now: 1_000 })).toBe(false);
  });
});
