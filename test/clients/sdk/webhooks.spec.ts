import { webhooks } from '@consigliere/sdk';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { newSigningSecret } from '../../../src/platform/signatures/event-signature.js';
import { startEventReceiver } from '../../support/event-receiver.js';
import { eventually, startTestApp } from '../../support/test-app.js';
import { bytesOf, vectors } from '../../support/webhook-vectors.js';
import { causeEvent, register } from '../../e2e/webhooks/delivery-desk.js';

const OWN = 'X-Service-Signature';
/** What the libraries read more loosely than the vectors ask; the SDK does not. */
const { accepted, refused } = vectors.events;

/** Each family of headers by itself, where the vector has both. */
const families = (headers: Record<string, string>) => {
  const { [OWN]: own, ...standard } = headers;
  return [
    headers,
    ...(own === undefined ? [] : [{ [OWN]: own }]),
    ...(standard['webhook-signature'] ? [standard] : []),
  ];
};

describe('unwrap', () => {
  it.each(accepted.map((vector) => [vector.name, vector] as const))('takes %s', async (_name, vector) => {
    const raw = bytesOf(vector.body);
    for (const secret of vector.secrets)
      for (const headers of families(vector.headers))
        expect(await webhooks.unwrap(raw, headers, secret, vector.now)).toEqual(JSON.parse(raw.toString()));
  });

  it.each(refused.map((vector) => [vector.name, vector] as const))('refuses %s', async (_name, vector) => {
    await expect(
      webhooks.unwrap(bytesOf(vector.body), vector.headers, vector.secret, vector.now),
    ).rejects.toThrow(webhooks.WebhookVerificationError);
  });

  it('takes text, bytes and a buffer, and headers of any server; says what is wrong with a parsed body', async () => {
    const secret = newSigningSecret();
    const raw = JSON.stringify({ event: 'report.daily', timestamp: 1, workspaceId: 'wks_1', payload: {} });
    const headers = await webhooks.sign(raw, secret);
    const bytes = new TextEncoder().encode(raw);
    for (const body of [raw, bytes, Buffer.from(raw), bytes.buffer])
      expect(await webhooks.unwrap(body, new Headers(headers), secret)).toMatchObject({
        event: 'report.daily',
      });
    const lowerCase = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]),
    );
    expect(await webhooks.unwrap(raw, lowerCase, secret)).toMatchObject({ event: 'report.daily' });
    await expect(webhooks.unwrap(JSON.parse(raw), headers, secret)).rejects.toThrow(
      'not what was parsed of it',
    );
    await expect(webhooks.unwrap(raw, {}, secret)).rejects.toThrow('The request has no signature.');
  });

  it('takes what the service delivers, with the former secret too while both sign', async () => {
    const receiver = await startEventReceiver();
    const app = await startTestApp({ OUTBOUND_ALLOW: receiver.hostPort });
    try {
      const [secret, former] = [newSigningSecret(), 'a pass phrase of our own'];
      const until = Date.now() + 3_600_000;
      await register(app, receiver.url, { secret, formerSecrets: [{ secret: former, until }] });
      await causeEvent(app);
      await eventually(async () => receiver.received.length);
      const [{ body, headers }] = receiver.received as [(typeof receiver.received)[0]];
      for (const one of [secret, former]) {
        const event = await webhooks.unwrap(body, headers, one);
        expect(event).toMatchObject({ event: 'revenue.recorded', workspaceId: app.workspaceId });
      }
      await expect(webhooks.unwrap(body, headers, newSigningSecret())).rejects.toThrow(
        'not of this body and secret',
      );
    } finally {
      await app.close();
      await receiver.close();
    }
  });
});

describe('sign', () => {
  it.each([newSigningSecret(), 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])(
    'makes headers that other libraries take',
    async (secret) => {
      const raw = JSON.stringify({
        event: 'approval.requested',
        timestamp: 1,
        workspaceId: 'wks_1',
        payload: { text: '🎩' },
      });
      const headers = await webhooks.sign(raw, secret);
      expect(Stripe.webhooks.constructEvent(raw, headers[OWN]!, secret)).toEqual(JSON.parse(raw));
      expect(new Webhook(secret).verify(raw, headers)).toEqual(JSON.parse(raw));
    },
  );

  it('makes the headers of the vectors', async () => {
    for (const { secrets, id, at, body, headers } of accepted.filter(
      (vector) => vector.secrets.length === 1,
    )) {
      const made = await webhooks.sign(bytesOf(body).toString(), secrets[0]!, { id, now: at });
      expect(made).toMatchObject(headers);
    }
  });
});
