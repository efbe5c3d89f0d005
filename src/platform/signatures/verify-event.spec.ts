import { describe, expect, it } from 'vitest';
import { flippedBits, flippedHeaders } from '../../../test/support/flipped-bits.js';
import { newSigningSecret, signEvent } from './event-signature.js';
import { hmacSha256 } from './hmac.js';
import { verifyEvent } from './verify-event.js';

const at = 1_767_225_600_000;
const body = Buffer.from('{"event":"kill.activated","é":"\u2028"}');
const secret = newSigningSecret();
const sign = (secrets = [secret], seconds = at / 1000) =>
  signEvent({ body, at: seconds * 1000, id: 'evt_1', secrets })['X-Service-Signature'];
const header = sign();
const digest = header.slice(header.indexOf('v1='));

const verify = (changes: Partial<Parameters<typeof verifyEvent>[0]> = {}) =>
  verifyEvent({ header, body, secret, now: at, ...changes });

describe('verifyEvent', () => {
  it('accepts what was signed, as bytes and as text', () => {
    expect(verify()).toBe(true);
    expect(verify({ body: body.toString() })).toBe(true);
  });

  it('accepts either secret while a rotation overlaps, and no third', () => {
    const next = newSigningSecret();
    const rotating = sign([next, secret]);
    expect(verify({ header: rotating })).toBe(true);
    expect(verify({ header: rotating, secret: next })).toBe(true);
    expect(verify({ header: rotating, secret: newSigningSecret() })).toBe(false);
  });

  it.each([
    [0, true],
    [300_000, true],
    [300_999, true],
    [301_000, false],
    [86_400_000, false],
    [-1, true],
    [-300_000, true],
    [-300_001, false],
    [-301_000, false],
    [NaN, false],
    [Infinity, false],
  ])('with a clock that is %d ms past the time of signing answers %s', (ms, accepted) => {
    expect(verify({ now: at + ms })).toBe(accepted);
  });

  it.each([
    [0, 999, true],
    [0, 1_000, false],
    [10, 10_999, true],
    [10, 11_000, false],
    [NaN, 0, false],
  ])('with a tolerance of %d s and a clock %d ms later answers %s', (toleranceSeconds, ms, accepted) => {
    expect(verify({ now: at + ms, toleranceSeconds })).toBe(accepted);
  });

  // Signed over exactly this time, so that only the grammar can refuse it.
  it.each([
    '01767225600',
    '+1767225600',
    '1767225600.0',
    '1.7672256e9',
    '0x69560300',
    ' 1767225600',
    '',
    '-1',
  ])('refuses the time %j even when it was signed', (time) => {
    const forged = (text: string) => `t=${text},v1=${hmacSha256(secret, `${text}.`, body).toString('hex')}`;
    expect(verify({ header: forged('1767225600') })).toBe(true);
    expect(verify({ header: forged(time), toleranceSeconds: Infinity })).toBe(false);
  });

  it('accepts the first second of 1970, and refuses a time beyond all clocks', () => {
    expect(verify({ header: sign([secret], 0), now: 0 })).toBe(true);
    expect(verify({ header: `t=${'9'.repeat(16)},${digest}`, toleranceSeconds: Infinity })).toBe(false);
  });

  it.each([
    ['absent', undefined],
    ['a list', [header]],
    ['empty', ''],
    ['without a time', digest],
    ['without a digest', 't=1767225600'],
    ['with another part', `${header},v0=1`],
    ['the wrong way round', `${digest},t=1767225600`],
    ['two in one', `${header},${header}`],
    ['two, as Node joins them', `${header}, ${header}`],
    ['followed by a line feed', `${header}\n`],
  ])('answers false, without throwing, when the header is %s', (_, value) => {
    expect(verify({ header: value })).toBe(false);
  });

  it('lets nobody sign with an empty secret', () => {
    const forged = `t=1767225600,v1=${hmacSha256('', '1767225600.', body).toString('hex')}`;
    expect(verify({ header: forged, secret: '' })).toBe(false);
  });

  it('finds its digest among sixteen, and refuses more without throwing', () => {
    const padded = (others: number) => `t=1767225600${`,v1=${'0'.repeat(64)}`.repeat(others)},${digest}`;
    expect(verify({ header: padded(15) })).toBe(true);
    for (const others of [16, 100_000]) expect(verify({ header: padded(others) })).toBe(false);
  });

  it('refuses each single changed bit of the body', () => {
    const changed = flippedBits(body);
    expect(changed).toHaveLength(body.length * 8);
    expect(changed.filter((bytes) => verify({ body: bytes }))).toEqual([]);
  });

  it('refuses each single changed bit of the header, whatever the clock', () => {
    const changed = flippedHeaders(header);
    expect(changed).toHaveLength(header.length * 8);
    expect(changed.filter((text) => verify({ header: text, toleranceSeconds: Infinity }))).toEqual([]);
  });
});
