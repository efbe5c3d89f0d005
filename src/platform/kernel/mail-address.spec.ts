import { describe, expect, it } from 'vitest';
import { foldedMailAddress, isMailAddress } from './mail-address.js';

describe('isMailAddress', () => {
  it.each([
    'jane@acme.example',
    'jane.doe+news@mail.acme.example',
    'müller@bücher.example',
    'jane@xn--bcher-kva.example',
    'jane@bücher.example',
    'почта@москва.example',
    'ジェーン@例え.example',
    'ada@аcme.example',
  ])('takes %s', (address) => {
    expect(isMailAddress(address)).toBe(true);
  });

  it.each([
    'jane@',
    '@bücher.example',
    'jane@bücher',
    'Jane <müller@bücher.example>',
    'müller@bücher.example@evil.example',
    'mül ler@bücher.example',
    'mü\u200bller@bücher.example',
    'mü\u202eller@bücher.example',
    'müller@bü\u00adcher.example',
    'müller＠bücher.example',
    'ｊane@bücher.example',
    'jane@bücher。example',
    '\u0301jane@bücher.example',
    '😀@bücher.example',
    'müller\n@bücher.example',
    'müller;@bücher.example',
    `${'ü'.repeat(33)}@bücher.example`,
    `jane@${'ü'.repeat(64)}.example`,
  ])('refuses %j', (address) => {
    expect(isMailAddress(address)).toBe(false);
  });
});

describe('foldedMailAddress', () => {
  it.each([
    [' Jane@ACME.example ', 'jane@acme.example'],
    ['MÜLLER@Bücher.example', 'müller@xn--bcher-kva.example'],
    ['mu\u0308ller@xn--bcher-kva.example', 'müller@xn--bcher-kva.example'],
    ['no address', 'no address'],
  ])('makes one spelling of %s', (address, folded) => {
    expect(foldedMailAddress(address)).toBe(folded);
  });
});
