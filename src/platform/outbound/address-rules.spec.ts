import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicUnicast, SPECIAL_IPV4, SPECIAL_IPV6 } from './address-rules.js';

/** 32 or 128 bits as an address; of IPv6 all eight groups are written. */
function written(bits: bigint, length: 32 | 128): string {
  const step = length === 32 ? 8n : 16n;
  const groups: bigint[] = [];
  for (let rest = BigInt(length); rest > 0n; rest -= step) {
    groups.push((bits >> (rest - step)) & ((1n << step) - 1n));
  }
  return length === 32 ? groups.join('.') : groups.map((group) => group.toString(16)).join(':');
}

function bitsOf(address: string): bigint {
  if (address.includes('.')) return address.split('.').reduce((bits, part) => bits * 256n + BigInt(part), 0n);
  const [head = [], tail = []] = address.split('::').map((side) => side.split(':').filter(Boolean));
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return groups.reduce((bits, group) => bits * 65_536n + BigInt(`0x${group}`), 0n);
}

/** Any address of a block, its first and its last among them. */
function addressIn([first, prefix]: readonly [string, number, ...unknown[]]) {
  const length = first.includes('.') ? 32 : 128;
  const free = (1n << BigInt(length - prefix)) - 1n;
  return fc
    .oneof(fc.constantFrom(0n, free), fc.bigInt({ min: 0n, max: free }))
    .map((offset) => written(bitsOf(first) + offset, length));
}

const specialIpv4 = fc.oneof(...SPECIAL_IPV4.map(addressIn));
const anyIpv4 = addressIn(['0.0.0.0', 0]);
const anyIpv6 = addressIn(['::', 0]);

/** The eight hexadecimal digits of an IPv4 address, as two groups. */
const asGroups = (ipv4: string) => written(bitsOf(ipv4), 128).split(':').slice(6).join(':');

const lines: [address: string, prefix: number, ...unknown[]][] = [...SPECIAL_IPV4, ...SPECIAL_IPV6].map(
  ([first, prefix, purpose]) => [first, prefix, purpose],
);

describe('isPublicUnicast', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '168.63.129.17',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2003::1',
    '2606:4700:4700::1111',
    '2620:4f:8001::1',
    '2a00:1450:4001:80e::200e',
    '2a01:4f8::5efe',
    '2a01:4f8::5eff:a00:1',
    '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:db9::',
    '2a01:4f8:0:0:0:0:0:1',
  ])('lets %s pass', (address) => {
    expect(isPublicUnicast(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.0.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '169.254.170.2',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.31.196.1',
    '192.52.193.1',
    '192.88.99.1',
    '192.168.1.1',
    '192.175.48.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::127.0.0.1',
    '::8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:10.0.0.1',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::10.0.0.1',
    '100::1',
    '100:0:0:1::1',
    '1fff:ffff::1',
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:30::1',
    '2001:db8::1',
    '2001:470:1f0b::5efe:10.0.0.1',
    '2001:470:1f0b::200:5efe:10.0.0.1',
    '2a01:4f8:0:0:0:5efe:a00:1',
    '2002:7f00:1::',
    '2002:808:808::1',
    '2620:4f:8000::1',
    '3fff::1',
    '3fff:fff:ffff::',
    '4000::1',
    '5f00::1',
    '8000::1',
    'fc00::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fe80::1',
    'fe80::5efe:10.0.0.1',
    'fec0::1',
    'ff02::1',
    'ff0e::1',
    'fe80::1%eth0',
    '2606:4700:4700::1111%eth0',
  ])('refuses %s', (address) => {
    expect(isPublicUnicast(address)).toBe(false);
  });

  it.each([
    '',
    ' ',
    'localhost',
    'example.com',
    '8.8.8',
    '8.8.8.8.',
    '8.8.8.8:443',
    ' 8.8.8.8',
    '8.8.8.8\n',
    '08.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '256.8.8.8',
    '[2606:4700:4700::1111]',
    '2606:4700::4700::1111',
    '2606:4700:4700:0:0:0:0:0:1111',
    '8.8.8.8/32',
    '８.8.8.8',
  ])('refuses what is no plain address: %j', (text) => {
    expect(isPublicUnicast(text)).toBe(false);
  });

  it.each(lines)('refuses every address of %s/%i', (first, prefix) => {
    fc.assert(
      fc.property(addressIn([first, prefix]), (address) => {
        expect(isPublicUnicast(address)).toBe(false);
      }),
    );
  });

  it.each(lines)('ends where %s/%i ends, unless another block follows', (first, prefix) => {
    const length = first.includes('.') ? 32 : 128;
    const size = 1n << BigInt(length - prefix);
    const blocks = lines.filter(([other]) => other.includes('.') === first.includes('.'));
    const isListed = (bits: bigint) =>
      blocks.some(([other, bitsKept]) => {
        const shift = BigInt(length - bitsKept);
        return bits >> shift === bitsOf(other) >> shift;
      });
    for (const beside of [bitsOf(first) - 1n, bitsOf(first) + size]) {
      if (beside < 0n || beside >= 1n << BigInt(length)) continue;
      expect(isPublicUnicast(written(beside, length)), written(beside, length)).toBe(!isListed(beside));
    }
  });

  it('refuses every IPv6 address outside of 2000::/3', () => {
    fc.assert(
      fc.property(anyIpv6, (address) => {
        fc.pre(bitsOf(address) >> 125n !== 1n);
        expect(isPublicUnicast(address)).toBe(false);
      }),
    );
  });

  it.each([
    ['IPv4-compatible', (ipv4: string) => `::${ipv4}`],
    ['IPv4-mapped', (ipv4: string) => `::ffff:${ipv4}`],
    ['IPv4-mapped in hexadecimal', (ipv4: string) => `0:0:0:0:0:ffff:${asGroups(ipv4)}`],
    ['IPv4-translated', (ipv4: string) => `::ffff:0:${ipv4}`],
    ['NAT64', (ipv4: string) => `64:ff9b::${ipv4}`],
    ['local NAT64', (ipv4: string) => `64:ff9b:1::${ipv4}`],
    ['6to4', (ipv4: string) => `2002:${asGroups(ipv4)}::1`],
    ['ISATAP in a public prefix', (ipv4: string) => `2a01:4f8:1:2:0:5efe:${asGroups(ipv4)}`],
    ['ISATAP in a public prefix, with a dotted end', (ipv4: string) => `2a01:4f8:1:2::5efe:${ipv4}`],
    ['ISATAP with the bit for unique', (ipv4: string) => `2a01:4f8:1:2:200:5efe:${ipv4}`],
    ['ISATAP on the link', (ipv4: string) => `fe80::5efe:${ipv4}`],
    [
      'Teredo, whose last 32 bits are inverted',
      (ipv4: string) => `2001:0:808:808:0:0:${asGroups(written(bitsOf(ipv4) ^ 0xffffffffn, 32))}`,
    ],
  ])('refuses every IPv4 address embedded in IPv6: %s', (_name, embed) => {
    fc.assert(
      fc.property(fc.oneof(specialIpv4, anyIpv4), (ipv4) => {
        expect(isPublicUnicast(embed(ipv4))).toBe(false);
      }),
    );
  });

  it('says the same of one address in each of its spellings', () => {
    fc.assert(
      fc.property(anyIpv6, (address) => {
        const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
        expect(isPublicUnicast(short)).toBe(isPublicUnicast(address));
        expect(isPublicUnicast(address.toUpperCase())).toBe(isPublicUnicast(address));
      }),
    );
  });
});
