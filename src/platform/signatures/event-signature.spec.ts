import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newSigningSecret, signEvent } from './event-signature.js';

const event = { body: '{"a":1}', at: 1_767_225_600_999, id: 'evt_1' };

/** The digest under a key of bytes, in base64, as Standard Webhooks has it. */
const standard = (key: Buffer) =>
  `v1,${createHmac('sha256', key).update('evt_1.1767225600.{"a":1}').digest('base64')}`;

describe('signEvent', () => {
  it('signs the same for text and for its bytes', () => {
    const body = '{"text":"Zoë\u2028🧾"}';
    const secrets = [newSigningSecret()];
    expect(signEvent({ ...event, body, secrets })).toEqual(
      signEvent({ ...event, body: Buffer.from(body), secrets }),
    );
  });

  it('writes whole seconds, rounded down, the same in both schemes', () => {
    const headers = signEvent({ ...event, secrets: ['a secret of some length'] });
    expect(headers['X-Service-Signature']).toMatch(/^t=1767225600,v1=[0-9a-f]{64}$/);
    expect(headers['webhook-timestamp']).toBe('1767225600');
    expect(headers['webhook-id']).toBe('evt_1');
  });

  it('signs once with each secret, in their order', () => {
    const [current, previous] = [newSigningSecret(), newSigningSecret()];
    const both = signEvent({ ...event, secrets: [current, previous] });
    const [first, second] = [current, previous].map((secret) => signEvent({ ...event, secrets: [secret] }));
    expect(both['X-Service-Signature']).toBe(
      `${first!['X-Service-Signature']},${second!['X-Service-Signature'].slice('t=1767225600,'.length)}`,
    );
    expect(both['webhook-signature']).toBe(`${first!['webhook-signature']} ${second!['webhook-signature']}`);
  });

  const chosen = [
    'correct horse battery staple',
    'bm90IGEgcHJlZml4ZWQgb25l', // base64 without the prefix is text
    'whsec_', // nothing to decode
    'whsec_AAECAwQFBgcICQoLDA0ODw', // no padding
    'whsec_AAECAwQFBgcICQoLDA0ODx==', // bits beyond the end
    'whsec_-_-_-_-_-_-_-_-_', // the other alphabet
    'whsec_AAECAwQF BgcICQoLDA0O',
    'WHSEC_AAECAwQFBgcICQoLDA0ODw==',
  ];
  it.each(chosen)('takes %j as its own text for Standard Webhooks', (secret) => {
    expect(signEvent({ ...event, secrets: [secret] })['webhook-signature']).toBe(
      standard(Buffer.from(secret)),
    );
  });

  it('decodes whsec_<base64> for Standard Webhooks', () => {
    const key = Buffer.from([0, 255, 62, 63, 128]);
    const secret = `whsec_${key.toString('base64')}`;
    expect(signEvent({ ...event, secrets: [secret] })['webhook-signature']).toBe(standard(key));
  });

  it.each([[[]], [['']], [['a secret of some length', '']]])('throws with the secrets %j', (secrets) => {
    expect(() => signEvent({ ...event, secrets })).toThrow(TypeError);
  });

  // A body could else be moved into the id, or a signature from one scheme to the other.
  it.each(['', '1767225600', 'evt_1.2', 'evt_1\r\nx: y', 'evt 1', 'Evt_1', 'évt_1'])(
    'throws with the id %j',
    (id) => {
      expect(() => signEvent({ ...event, id, secrets: ['a secret of some length'] })).toThrow(TypeError);
    },
  );
});

describe('newSigningSecret', () => {
  it('holds 32 bytes in base64, never the same twice', () => {
    const secrets = Array.from({ length: 1_000 }, newSigningSecret);
    for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(new Set(secrets).size).toBe(1_000);
    expect(Buffer.from(secrets[0]!.slice('whsec_'.length), 'base64')).toHaveLength(32);
  });
});
