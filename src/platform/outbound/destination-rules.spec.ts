import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkDestination,
  DESTINATION_REASONS,
  type DestinationReason,
  hostPort,
  literalOf,
} from './destination-rules.js';

const NONE = { allow: [], own: [] };

function reasonOf(
  url: string,
  rules: Parameters<typeof checkDestination>[1] = NONE,
): DestinationReason | 'ok' {
  const destination = checkDestination(url, rules);
  return destination.ok ? 'ok' : destination.reason;
}

describe('checkDestination', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['https://hooks.example.com/a/b?c=d&e=%20', 'https://hooks.example.com/a/b?c=d&e=%20'],
    ['HTTPS://Hooks.Example.COM/A', 'https://hooks.example.com/A'],
    ['https://example.com:443/', 'https://example.com/'],
    ['https://example.com:8443/', 'https://example.com:8443/'],
    ['https://example.com:1024/', 'https://example.com:1024/'],
    ['https://example.com:65535/', 'https://example.com:65535/'],
    ['https://bücher.example.com/ü', 'https://xn--bcher-kva.example.com/%C3%BC'],
    ['https://a_b.example.com/', 'https://a_b.example.com/'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]/'],
    ['https://example.com/@user', 'https://example.com/@user'],
    ['https://example.com/?to=a@b', 'https://example.com/?to=a@b'],
    ['https://127.0.0.1.example.com/', 'https://127.0.0.1.example.com/'],
    ['https://localhost.example.com/', 'https://localhost.example.com/'],
  ])('lets %s pass', (text, href) => {
    const destination = checkDestination(text, NONE);
    expect(destination).toMatchObject({ ok: true, exempt: false });
    expect(destination.ok && destination.url.href).toBe(href);
  });

  it('lets a URL of 2048 characters pass', () => {
    expect(reasonOf(`https://example.com/${'a'.repeat(2028)}`)).toBe('ok');
  });

  it.each<[DestinationReason, string[]]>([
    ['length', [`https://example.com/${'a'.repeat(2029)}`, 'x'.repeat(5000)]],
    [
      'characters',
      [
        ' https://example.com',
        'https://example.com ',
        'https://example.com\n',
        'https://exa\tmple.com',
        'ht\rtps://example.com',
        'https://example.com/a b',
        'https://example.com/\u0000',
        'https://example.com/\u007f',
        'https://example.com/\u0085',
        'https://example.com/\u00a0',
        'https://example.com/\u2028',
        'https://example.com/\u3000',
        'https:\\\\example.com',
        'https://example.com\\@evil.example.net',
        'https://example.com/a\\b',
      ],
    ],
    [
      'syntax',
      [
        '',
        'example.com',
        '//example.com',
        '/path',
        'https://',
        'https:///',
        'https:///example.com',
        'https:example.com',
        'https:/example.com',
        'https://?a',
        'https://#a',
        'https://:443',
        'https://exa%00mple.com',
        'https://exa<mple.com',
        'https://example.com:65536',
        'https://example.com:-1',
        'https://example.com:a',
        'https://[::1',
        'https://[::1%25lo]',
        'https://[::1%lo]',
        'https://[fe80::1%25eth0]/',
        'https://[::g]',
        'https://256.1.1.1',
        'https://1.2.3.4.5',
        'https://4294967296',
        'https://0x100000000',
        'https://1.1.1.08',
        'https://09',
        'https://foo.123',
        'https://foo.0x7f',
        'https://foo.1.',
      ],
    ],
    [
      'scheme',
      [
        'http://example.com',
        'http://127.0.0.1',
        'HTTP://example.com',
        'ftp://example.com',
        'ws://example.com',
        'wss://example.com',
        'file:///etc/passwd',
        'gopher://example.com',
        'javascript:alert(1)',
        'data:text/plain,hello',
        'blob:https://example.com/1',
        'https+unix://example.com',
        'localhost:3000',
      ],
    ],
    [
      'user_info',
      [
        'https://user@example.com',
        'https://user:password@example.com',
        'https://:password@example.com',
        'https://@example.com',
        'https://:@example.com',
        'https://example.com%2f@evil.example.net/',
        'https://example.com:443@evil.example.net/',
        'https://a@b@example.com',
      ],
    ],
    [
      'port',
      [0, 1, 22, 25, 53, 80, 110, 442, 444, 445, 1023]
        .concat([1433, 1521, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5984, 5985, 5986])
        .concat([6379, 6443, 7000, 7001, 8500, 9042, 9200, 9300, 10250, 10255, 11211, 15672, 27017, 27018])
        .concat([27019, 27020])
        .map((port) => `https://example.com:${port}/`),
    ],
    [
      'name',
      [
        'https://localhost',
        'https://LOCALHOST/',
        'https://localhost.',
        'https://a.localhost',
        'https://localhost.localdomain',
        'https://intranet',
        'https://printer.local',
        'https://metadata.google.internal/computeMetadata/v1/',
        'https://host.docker.internal:8443',
        'https://router.home.arpa',
        'https://1.0.0.127.in-addr.arpa',
        'https://db.corp',
        'https://nas.lan',
        'https://a.test',
        'https://a.invalid',
        'https://a.onion',
        'https://example.com.',
        'https://example.com..',
        'https://example..com',
        'https://.example.com',
        'https://-example.com',
        'https://example-.com',
        'https://exa*mple.com',
        'https://exa,mple.com',
        "https://exa'mple.com",
        'https://ｌｏｃａｌｈｏｓｔ',
        'https://local\u00adhost',
        'https://ⓛocalhost',
        `https://${'a'.repeat(64)}.com`,
        `https://${'a.'.repeat(127)}com`,
      ],
    ],
    [
      'address',
      [
        // Spellings of 127.0.0.1.
        'https://127.0.0.1',
        'https://127.0.0.1.',
        'https://127.1',
        'https://127.0.1',
        'https://2130706433',
        'https://017700000001',
        'https://0x7f000001',
        'https://0X7F000001',
        'https://0x7f.1',
        'https://0x7f.0x0.0x0.0x1',
        'https://0177.0.0.1',
        'https://0177.0x0.1',
        'https://127.0.0.01',
        'https://127.000.000.001',
        'https://0000177.0.0.1',
        'https://%31%32%37.0.0.1',
        'https://127%2e0%2e0%2e1',
        'https://１２７.０.０.１',
        'https://①②⑦.⓪.⓪.①',
        'https://127。0。0。1',
        'https://127．0．0．1',
        'https://127｡0｡0｡1',
        'https://127.0.0.\u00ad1',
        'https://127.0.0.1:8443',
        // Others that are not public.
        'https://0',
        'https://0x',
        'https://0.0.0.0',
        'https://10.0.0.1',
        'https://167772161',
        'https://100.64.0.1',
        'https://169.254.169.254/latest/meta-data/',
        'https://2852039166',
        'https://0xa9fea9fe',
        'https://0xa9.0xfe.0xa9.0xfe',
        'https://0251.0376.0251.0376',
        'https://169.254.43518',
        'https://169.16689662',
        'https://168.63.129.16',
        'https://100.100.100.200',
        'https://172.16.0.1',
        'https://192.0.0.192',
        'https://192.168.0.1',
        'https://192.168.257',
        'https://198.18.0.1',
        'https://224.0.0.1',
        'https://255.255.255.255',
        'https://4294967295',
        'https://0xffffffff',
        // IPv6.
        'https://[::]',
        'https://[::1]',
        'https://[::1]:8443',
        'https://[0:0:0:0:0:0:0:1]',
        'https://[0000:0000:0000:0000:0000:0000:0000:0001]',
        'https://[::127.0.0.1]',
        'https://[::7f00:1]',
        'https://[::ffff:127.0.0.1]',
        'https://[::FFFF:127.0.0.1]',
        'https://[::ffff:7f00:1]',
        'https://[0:0:0:0:0:ffff:7f00:0001]',
        'https://[::ffff:0:7f00:1]',
        'https://[::ffff:169.254.169.254]',
        'https://[::ffff:8.8.8.8]',
        'https://[64:ff9b::7f00:1]',
        'https://[64:ff9b:1::a9fe:a9fe]',
        'https://[100::1]',
        'https://[2001::1]',
        'https://[2001:db8::1]',
        'https://[2001:470:1f0b::5efe:7f00:1]',
        'https://[2001:470:1f0b::5efe:127.0.0.1]',
        'https://[2002:7f00:1::]',
        'https://[3fff::1]',
        'https://[4000::1]',
        'https://[fd00:ec2::254]',
        'https://[fd20:ce::254]',
        'https://[fe80::1]',
        'https://[fec0::1]',
        'https://[ff02::1]',
      ],
    ],
  ])('refuses for its %s', (reason, urls) => {
    for (const url of urls) {
      expect(checkDestination(url, NONE), url).toEqual({
        ok: false,
        reason,
        message: DESTINATION_REASONS[reason],
      });
    }
  });

  it('exempts an allowed host and port from scheme, port, name and address', () => {
    const allow = ['localhost:80', 'receiver:5432', '127.0.0.1:8080', '[::1]:443', 'example.com:443'];
    for (const url of [
      'http://localhost/',
      'http://LOCALHOST:80/',
      'https://localhost:80/',
      'http://receiver:5432/a',
      'http://127.0.0.1:8080/',
      'http://127.1:8080/',
      'https://[::1]/',
      'https://[0:0::1]/',
      'https://example.com/',
    ]) {
      expect(checkDestination(url, { allow, own: [] }), url).toMatchObject({ ok: true, exempt: true });
    }
  });

  it('exempts no other port, no other host and no other name of the same host', () => {
    const rules = { allow: ['localhost:8080', '127.0.0.1:8443'], own: [] };
    expect(reasonOf('http://localhost:8081/', rules)).toBe('scheme');
    expect(reasonOf('https://localhost/', rules)).toBe('name');
    expect(reasonOf('https://localhost.:8080/', rules)).toBe('name');
    expect(reasonOf('https://localhost:8443/', rules)).toBe('name');
    expect(reasonOf('https://127.0.0.2:8443/', rules)).toBe('address');
    expect(reasonOf('https://[::ffff:127.0.0.1]:8443/', rules)).toBe('address');
    expect(reasonOf('https://a.localhost:8080/', rules)).toBe('name');
  });

  it('exempts nothing from user info, white space, length and form, nor another scheme than http', () => {
    const rules = { allow: ['localhost:8080', 'localhost:21'], own: [] };
    expect(reasonOf('http://user@localhost:8080/', rules)).toBe('user_info');
    expect(reasonOf('http://localhost:8080/ ', rules)).toBe('characters');
    expect(reasonOf('http:\\\\localhost:8080/', rules)).toBe('characters');
    expect(reasonOf('http:localhost:8080/', rules)).toBe('syntax');
    expect(reasonOf(`http://localhost:8080/${'a'.repeat(2048)}`, rules)).toBe('length');
    expect(reasonOf('ftp://localhost:8080/', rules)).toBe('scheme');
    expect(reasonOf('ftp://localhost/', rules)).toBe('scheme');
  });

  it("refuses the product's own address, allowed or not", () => {
    const own = ['consigliere.example.com:443', '127.0.0.1:3000'];
    const rules = { allow: own, own };
    expect(reasonOf('https://consigliere.example.com/api/pro/profile', rules)).toBe('own_address');
    expect(reasonOf('https://CONSIGLIERE.example.com:443', rules)).toBe('own_address');
    expect(reasonOf('http://consigliere.example.com:443', rules)).toBe('own_address');
    expect(reasonOf('http://127.0.0.1:3000', rules)).toBe('own_address');
    expect(reasonOf('http://2130706433:3000', rules)).toBe('own_address');
    expect(reasonOf('https://consigliere.example.com:8443', rules)).toBe('ok');
  });

  it('refuses a private IPv4 address in any mixture of spellings', () => {
    const block = fc.constantFrom<[number, number]>(
      ...([
        [0x0a000000, 24],
        [0x7f000000, 24],
        [0xa9fe0000, 16],
        [0xac100000, 20],
        [0xc0a80000, 16],
      ] as [number, number][]),
    );
    const address = block.chain(([first, free]) =>
      fc.nat({ max: 2 ** free - 1 }).map((offset) => first + offset),
    );
    const radix = fc.constantFrom(
      (part: number) => String(part),
      (part: number) => `0${part.toString(8)}`,
      (part: number) => `000${part.toString(8)}`,
      (part: number) => `0x${part.toString(16)}`,
      (part: number) => `0X00${part.toString(16).toUpperCase()}`,
    );
    const digits = fc.constantFrom(
      (text: string) => text,
      (text: string) => text.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
      (text: string) => text.replaceAll(/\d/g, (digit) => `%3${digit}`),
    );
    const dot = fc.constantFrom('.', '。', '．', '｡', '%2e');
    fc.assert(
      fc.property(
        address,
        fc.integer({ min: 0, max: 3 }),
        fc.array(radix, { minLength: 4, maxLength: 4 }),
        digits,
        dot,
        fc.boolean(),
        (bits, dots, radixes, look, separator, ends) => {
          const bytes = [bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255];
          const last = bytes.slice(dots).reduce((sum, byte) => sum * 256 + byte, 0);
          const parts = [...bytes.slice(0, dots), last].map((part, at) => look(radixes[at]!(part)));
          const host = parts.join(separator) + (ends ? '.' : '');
          expect(reasonOf(`https://${host}/`), host).toBe('address');
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('answers whatever it is asked, and lets only https without a user name pass', () => {
    const host = fc.oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.webAuthority({ withUserInfo: true }),
    );
    const text = fc.oneof(
      fc.webUrl(),
      fc.string(),
      host.map((each) => `https://${each}/`),
    );
    fc.assert(
      fc.property(text, (url) => {
        const destination = checkDestination(url, NONE);
        if (!destination.ok) return;
        expect(destination.url.protocol).toBe('https:');
        expect(destination.url.username + destination.url.password).toBe('');
      }),
      { numRuns: 500 },
    );
  });
});

describe('hostPort', () => {
  it.each([
    ['https://Example.com/a', 'example.com:443'],
    ['http://example.com', 'example.com:80'],
    ['http://example.com:443', 'example.com:443'],
    ['https://[::1]:8080', '[::1]:8080'],
  ])('writes the port of %s always', (url, expected) => {
    expect(hostPort(new URL(url))).toBe(expected);
  });
});

describe('literalOf', () => {
  it.each([
    ['https://[::1]/', '::1'],
    ['https://127.1/', '127.0.0.1'],
    ['https://example.com/', undefined],
  ])('answers the address in %s', (url, expected) => {
    expect(literalOf(new URL(url))).toBe(expected);
  });
});
