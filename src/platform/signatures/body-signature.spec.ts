import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { flippedBits, flippedHeaders } from '../../../test/support/flipped-bits.js';
import { isBodySignature, signBody } from './body-signature.js';

const body = Buffer.from('{"partnerEventId":"pe_1","é":"\u2028"}');
const secret = 'correct horse battery staple';
const header = signBody(body, secret);

describe('isBodySignature', () => {
  it('accepts the signature of these bytes', () => {
    expect(header).toBe(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
    expect(isBodySignature(header, body, [secret])).toBe(true);
  });

  it('accepts bytes that are no text, and none at all', () => {
    for (const bytes of [Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]), Buffer.alloc(0)]) {
      expect(isBodySignature(signBody(bytes, secret), bytes, [secret])).toBe(true);
    }
    // Bytes that would become the same text when decoded.
    expect(isBodySignature(signBody(Buffer.from([0xff]), secret), Buffer.from([0xfe]), [secret])).toBe(false);
  });

  it.each([
    ['the only one', [secret], true],
    ['the current one', [secret, 'another one of them'], true],
    ['the previous one', ['another one of them', secret], true],
    ['none of them', ['another one of them', 'and one more of them'], false],
    ['none, as there is none', [], false],
  ])('tries every secret: %s', (_, secrets, accepted) => {
    expect(isBodySignature(header, body, secrets)).toBe(accepted);
  });

  it('lets nobody sign with an empty secret', () => {
    expect(isBodySignature(signBody(body, ''), body, [''])).toBe(false);
    expect(isBodySignature(header, body, ['', secret])).toBe(true);
  });

  it.each([
    ['absent', undefined],
    ['repeated', [header, header]],
    ['one in a list', [header]],
    ['an empty list', []],
  ])('answers false, without throwing, when the header is %s', (_, value) => {
    expect(isBodySignature(value, body, [secret])).toBe(false);
  });

  it('answers false for whatever a caller without types hands in', () => {
    for (const value of [null, 0, {}, Buffer.from(header), { toString: () => header }]) {
      expect(isBodySignature(value as unknown as string, body, [secret])).toBe(false);
    }
  });

  it('refuses each single changed bit of the body', () => {
    const changed = flippedBits(body);
    expect(changed).toHaveLength(body.length * 8);
    expect(changed.filter((bytes) => isBodySignature(header, bytes, [secret]))).toEqual([]);
  });

  it('refuses each single changed bit of the header', () => {
    const changed = flippedHeaders(header);
    expect(changed).toHaveLength(71 * 8);
    expect(changed.filter((text) => isBodySignature(text, body, [secret]))).toEqual([]);
  });

  it('refuses a body that is cut, longer, or in another order', () => {
    for (const bytes of [body.subarray(1), body.subarray(0, -1), Buffer.concat([body, body])]) {
      expect(isBodySignature(header, bytes, [secret])).toBe(false);
    }
    expect(isBodySignature(header, body.toReversed(), [secret])).toBe(false);
  });
});
