import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Briefing, DraftPacket } from '../../src/features/capos/briefing.js';
import { checkDraft } from '../../src/features/capos/draft-checks.js';
import { accountsIn, amountsIn, linksIn, walletsIn } from '../../src/features/capos/text-facts.js';
import { briefing } from './briefings.js';

const mail = (params: Record<string, unknown>): DraftPacket => ({
  title: 'Mail',
  type: 'email.send',
  target: 'x',
  params: { to: ['jane@acme.example'], subject: 'Hello', body: 'Hello Jane', ...params },
  rationale: 'Asked for.',
  multipliers: {},
  needsInput: [],
});

const work = (text: string, changes: Partial<Briefing> & { context?: Record<string, unknown> } = {}) => {
  const { context, ...others } = changes;
  return briefing(text, 'capo_ops', { ...(context && { directive: { context } }), ...(others as object) });
};

const TO_JANE = 'Write to jane@acme.example.';
const reasons = (packet: DraftPacket, from: Briefing = work(TO_JANE)) =>
  checkDraft({ remarks: '', packets: [packet], concerns: [] }, from).concerns.map(({ reason }) => reason);
const needed = (packet: DraftPacket, from: Briefing = work(TO_JANE)) =>
  checkDraft({ remarks: '', packets: [packet], concerns: [] }, from).packets[0]!.needsInput;

describe('recipients', () => {
  it('that stand nowhere are critical, and named', () => {
    const { concerns } = checkDraft(
      {
        remarks: '',
        packets: [mail({ to: ['jane@acme.example', 'eve@evil.example'], cc: ['mallory@evil.example'] })],
        concerns: [],
      },
      work(TO_JANE),
    );
    expect(concerns).toEqual([
      {
        risk: 'critical',
        reason:
          "The recipients eve@evil.example, mallory@evil.example stand nowhere in the directive, its context or the workspace's data.",
      },
    ]);
  });

  const from = (changes: Partial<Briefing>) => work('Write to her.', changes);
  const previous = (editedPaths?: string[]) =>
    ({
      ...work('Write to her.'),
      feedback: [
        {
          round: 1,
          text: 'Shorter.',
          previous: {
            summary: '',
            body: '',
            packets: [
              {
                title: 'Mail',
                type: 'email.send',
                params: { to: ['jane@acme.example'] },
                rationale: '',
                ...(editedPaths && { editedPaths }),
              },
            ],
          },
        },
      ],
    }) satisfies Briefing;

  it.each<[string, Briefing]>([
    ['the directive', work(TO_JANE)],
    ['the directive, in capitals', work('Write to JANE@ACME.example.')],
    ['the directive, percent-encoded', work('mailto:jane%40acme.example')],
    [
      'the context, deep inside',
      work('Write to her.', { context: { order: { who: ['Jane <jane@acme.example>'] } } }),
    ],
    [
      'a buyer',
      from({
        buyerContext: {
          profiles: [
            {
              buyerId: 'b',
              segment: null,
              stage: null,
              confidence: null,
              topGap: null,
              updatedAt: 0,
              email: 'Jane@acme.example',
            },
          ],
          aggregate: { count: 1, averageConfidence: null, topGap: null },
        },
      }),
    ],
    ['a person’s edit of the earlier draft', previous(['params.to'])],
    ['an edit of one address', previous(['params.to.0'])],
    ['a packet that a person added', previous(['params'])],
  ])('are known from %s', (_source, known) => {
    expect(reasons(mail({}), known)).toEqual([]);
  });

  it.each<[string, Briefing]>([
    ['nothing', work('Write to her.')],
    ['an earlier draft that nobody approved', previous()],
    ['an edit of something else', previous(['params.body'])],
    [
      'a signal',
      from({
        signals: [
          {
            signalId: 's',
            type: 'partner',
            severity: 'info',
            title: 'Send it to jane@acme.example',
            body: '',
            score: null,
            createdAt: 0,
          },
        ],
      }),
    ],
    ['an address that begins like it', work('Write to jane@acme.example.org')],
    ['an address that ends like it', work('Write to mary.jane@acme.example')],
  ])('are not known from %s', (_source, unknown) => {
    expect(reasons(mail({}), unknown)).toHaveLength(1);
  });

  it('are one address in both writings of an international domain', () => {
    const german = work('Schreibe an info@bücher.example');
    expect(reasons(mail({ to: ['info@xn--bcher-kva.example'] }), german)).toEqual([]);
    const cyrillic = work('Write to jane@acme.example');
    // The first letter of the domain is Cyrillic.
    expect(reasons(mail({ to: ['jane@xn--cme-5cd.example'] }), cyrillic)).toHaveLength(1);
  });

  it('are named without more room than a reason has', () => {
    const to = Array.from({ length: 100 }, (_, n) => `${'x'.repeat(60)}${n}@evil.example`);
    const [reason] = reasons(mail({ to }));
    expect(reason!.length).toBeLessThanOrEqual(500);
    expect(reason).toContain('stand nowhere in the directive');
  });
});

describe('addresses and links in a text', () => {
  it.each([
    ['Answer to eve@evil.example.', 'The mail address eve@evil.example stands nowhere'],
    ['Pay at https://evil.example/pay?x=1.', 'The link evil.example/pay?x=1 stands nowhere'],
    ['Pay at www.evil.example!', 'The link evil.example stands nowhere'],
    ['Pay at evil.com/pay (soon)', 'The link evil.com/pay stands nowhere'],
    ['Pay [here](https://evil.example)', 'The link evil.example stands nowhere'],
    ['Pay at https://аcme.example/', 'The link xn--cme-5cd.example stands nowhere'],
    ['Pay at https://acme.example@evil.example/', 'The link acme.example@evil.example stands nowhere'],
    ['Pay at ht\u00adtps://evil.example', 'The link evil.example stands nowhere'],
    ['[Call](tel:+431234)', 'The link tel:+431234 stands nowhere'],
  ])('are critical where nobody gave them: %s', (body, reason) => {
    expect(reasons(mail({ body })).join(' ')).toContain(reason);
  });

  it.each([
    ['https://acme.example/pay', 'Pay at https://acme.example/pay.'],
    ['https://acme.example/pay', 'Pay (https://ACME.example/pay/), please.'],
    ['acme.example/pay', 'Pay at https://www.acme.example/pay'],
    ['https://acme.example/größe', 'See https://acme.example/gr%C3%B6%C3%9Fe'],
    ['https://bücher.example', 'See https://xn--bcher-kva.example/'],
    ['https://acme.example/a_(b)', 'See https://acme.example/a_(b).'],
    ['jane@acme.example', 'Write to Jane@acme.example.'],
  ])('are known from %s as: %s', (given, body) => {
    expect(reasons(mail({ body }), work(`${TO_JANE} ${given}`))).toEqual([]);
  });

  it.each(['See node.js, e.g. version 2.0.', 'Versions 1.2.3 and report.pdf', 'At 10.30 in room B.2'])(
    'are not found in: %s',
    (body) => {
      expect(reasons(mail({ body }))).toEqual([]);
    },
  );
});

describe('amounts', () => {
  it.each([
    ['It costs 500 EUR.', '500 EUR'],
    ['It costs €500.', '€500'],
    ['It costs $ 1,200.50', '$ 1,200.50'],
    ['You get 20 % off.', '20 %'],
    ['Das kostet 1.200,50 Euro.', '1.200,50 Euro'],
    ['It costs 5k USD', '5k USD'],
    ['٥٠٠ EUR', '500 EUR'],
    ['EUR 1 300', 'EUR 1 300'],
  ])('are critical where nobody gave them: %s', (body, written) => {
    expect(reasons(mail({ body }))).toEqual([
      `The amount ${written} stands nowhere in the directive, its context or the workspace's data.`,
    ]);
  });

  it.each([
    ['1.200,50 EUR', '1,200.50 EUR'],
    ['1200.5 EUR', '1.200,50 €'],
    ['1200 EUR', '1.200 EUR'],
    ['1’200 CHF', 'CHF 1,200.00'],
    ['1 200 EUR', '1200 Euro'],
    ['1,20,000 INR', '₹120000'],
    ['5k dollars', 'USD 5,000'],
    ['2 Mio. EUR', '2,000,000 EUR'],
    ['a discount of 20', '20 %'],
    ['zwanzig: 20 Prozent', '20 percent'],
    ['500', '500 EUR'],
  ])('are known from %s as %s', (given, body) => {
    expect(reasons(mail({ body }), work(`${TO_JANE} ${given}`))).toEqual([]);
  });

  it.each([
    ['500 EUR', '500 USD'],
    ['500 EUR', '50 EUR'],
    ['1.200,50 EUR', '120050 EUR'],
    ['5 EUR', '5k EUR'],
    ['20 EUR', '20 %'],
  ])('are not known from %s as %s', (given, body) => {
    expect(reasons(mail({ body }), work(`${TO_JANE} ${given}`))).toHaveLength(1);
  });

  it.each(['the top 3', 'All 5 of them', 'try 3', 'Pen 5', '5 all together', 'Bob 2', 'sos 112'])(
    'are no ordinary words beside a number: %s',
    (text) => {
      expect(amountsIn(text)).toEqual([]);
      expect(reasons(mail({ body: text }))).toEqual([]);
    },
  );

  it.each([
    ['3 eur', 'EUR'],
    ['TOP 3', 'TOP'],
    ['top 3 EUR', 'EUR'],
    ['3 Euros', 'EUR'],
    ['Usd 3', 'USD'],
    ['3K CHF', 'CHF'],
    ['3 PERCENT', '%'],
  ])('have their currency however it is written: %s', (text, unit) => {
    expect(amountsIn(text)).toMatchObject([{ unit }]);
  });

  it('are known from the figures that were read for the directive', () => {
    const figures = {
      since: '2026-09-02',
      days: [
        {
          day: '2026-11-23',
          revenue: { EUR: 100.5, USD: 7 },
          approvals: { approved: 31 },
          signals: { warning: 44 },
        },
      ],
      openApprovals: [{ title: 'Offer of 77 EUR to eve@evil.example', requestedAt: 0 }],
    };
    const body = '100.50 EUR, 7 USD, 31 %, 44 % and 77 EUR; 8 USD';
    const stands = "stands nowhere in the directive, its context or the workspace's data.";
    expect(reasons(mail({ body }), work(TO_JANE, { figures }))).toEqual([`The amount 8 USD ${stands}`]);
    expect(reasons(mail({ body: 'eve@evil.example' }), work(TO_JANE, { figures }))).toEqual([
      `The mail address eve@evil.example ${stands}`,
    ]);
  });

  it('are known from the context and the revenue of the workspace, in its currency', () => {
    const known = work(TO_JANE, { context: { total: 99.9, currency: 'EUR' } });
    expect(reasons(mail({ body: '99,90 EUR' }), known)).toEqual([]);
    expect(reasons(mail({ body: 'Yesterday: 1,200 EUR' }), known)).toEqual([]);
    expect(reasons(mail({ body: 'Yesterday: 1,200 USD' }), known)).toHaveLength(1);
  });

  it('that would be recorded are looked at as well', () => {
    const record = {
      ...mail({}),
      type: 'revenue.record',
      params: { amount: 900, currency: 'EUR', source: 'Acme' },
    };
    expect(reasons(record, work('Record 900 EUR from Acme'))).toEqual([]);
    expect(reasons(record, work('Record 90 EUR from Acme'))).toEqual([
      "The amount 900 EUR stands nowhere in the directive, its context or the workspace's data.",
    ]);
  });
});

describe('placeholders', () => {
  it.each([
    ['Hello [Name],', '[Name]'],
    ['Hello {{first_name}},', '{{first_name}}'],
    ['Hello {name},', '{name}'],
    ['Hello ${name},', '${name}'],
    ['On <insert date>.', '<insert date>'],
    ['On <<date>>.', '<<date>>'],
    ['Call TODO', 'TODO'],
    ['Call XXX', 'XXX'],
    ['Hello %NAME%', '%NAME%'],
    ['Signed: ______', '______'],
    ['Bonjour [votre prénom],', '[votre prénom]'],
    ['[🙂 your name]', '[🙂 your name]'],
  ])('need input at their place: %s', (body, placeholder) => {
    expect(needed(mail({ body }))).toEqual([
      { path: 'params.body', message: `Replace “${placeholder}” with what belongs there.` },
    ]);
  });

  it('are looked for in every parameter', () => {
    expect(needed(mail({ subject: 'Offer for [Company]', body: 'TODO' })).map(({ path }) => path)).toEqual([
      'params.subject',
      'params.body',
    ]);
  });

  it.each([
    'See [our page](https://acme.example).',
    '- [ ] one\n- [x] two',
    'As shown [1] and [^2].',
    'Todo sobre mi madre; eso es todo.',
    'a < b and c > d',
    '<b>bold</b>',
    'if (a) { return b; }',
  ])('are not seen in: %s', (body) => {
    expect(needed(mail({ body }))).toEqual([]);
  });

  it('that a person wrote into the directive are meant', () => {
    expect(needed(mail({ subject: '[EXT] Offer' }), work(`${TO_JANE} Subject: [EXT] Offer`))).toEqual([]);
  });
});

describe('links without a scheme', () => {
  it.each([
    ['evil.zip/pay', 'evil.zip/pay'],
    ['evil.zip:8080/pay', 'evil.zip:8080/pay'],
    ['//evil.museum/x', 'evil.museum/x'],
    ['https:evil.example/pay', 'evil.example/pay'],
    ['10.0.0.1:8080/x', '10.0.0.1:8080/x'],
    ['10.0.0.1/x', '10.0.0.1/x'],
    ['10.0.0.1:8080', '10.0.0.1:8080'],
    ['evil。example/pay', 'evil.example/pay'],
    ['evil．zip／pay', 'evil.zip/pay'],
    ['evil｡example', 'evil.example'],
    ['evil[.]example/pay', 'evil.example/pay'],
    ['evil.example:8080/pay', 'evil.example:8080/pay'],
  ])('are links: %s', (written, link) => {
    expect(linksIn(`Please look at ${written} today.`)).toEqual([link]);
    expect(reasons(mail({ body: `Please look at ${written} today.` }))).toEqual([
      `The link ${link} stands nowhere in the directive, its context or the workspace's data.`,
    ]);
    expect(reasons(mail({ body: `See ${written} .` }), work(`${TO_JANE} Name ${written} .`))).toEqual([]);
  });

  it.each([
    'and/or, e.g./i.e., z.B./u.a., km/h, 24/7, Inc./Ltd.',
    'the file evil.zip, version 1.2.3.4, chapter 1.2.3.4.5, main.ts',
    'am 3.12.2026 um 10.30 Uhr, 1.200,50/1.300,00',
    '今日は晴れ。明日/明後日は雨。',
    'Hello.How are you?',
  ])('are not seen in: %s', (text) => expect(linksIn(text)).toEqual([]));
});

describe('bank accounts and wallets', () => {
  const IBAN = 'DE89 3704 0044 0532 0130 00';

  it.each([
    [IBAN, 'bank account DE89370400440532013000'],
    ['DE89370400440532013000', 'bank account DE89370400440532013000'],
    ['gb82 west 1234 5698 7654 32', 'bank account GB82WEST12345698765432'],
    ['ＤＥ８９ 3704-0044-0532-0130-00', 'bank account DE89370400440532013000'],
    ['NO93 8601 1117 947', 'bank account NO9386011117947'],
    ['MT84 MALT 0110 0001 2345 MTLC AST0 01S', 'bank account MT84MALT011000012345MTLCAST001S'],
    [
      'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      'wallet address bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    ],
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'wallet address 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    [
      '0x52908400098527886E0F7030069857D2E4169EE7',
      'wallet address 0x52908400098527886e0f7030069857d2e4169ee7',
    ],
    ['TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', 'wallet address TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'],
  ])('that stand nowhere are critical: %s', (written, named) => {
    const packet = mail({ body: `Please pay to ${written} by Friday.` });
    expect(checkDraft({ remarks: '', packets: [packet], concerns: [] }, work(TO_JANE)).concerns).toEqual([
      {
        risk: 'critical',
        reason: `The ${named} stands nowhere in the directive, its context or the workspace's data.`,
      },
    ]);
    expect(reasons(packet, work(`${TO_JANE} We are paid at ${written}.`))).toEqual([]);
    expect(reasons(packet, work(TO_JANE, { context: { account: written } }))).toEqual([]);
  });

  it('that stand only in a signal are no evidence', () => {
    const signal = {
      signalId: 's',
      type: 'agent',
      severity: 'info',
      title: 'Bank',
      body: IBAN,
      score: 1,
      createdAt: 0,
    };
    const from = work(TO_JANE, { signals: [signal as Briefing['signals'][number]] });
    expect(reasons(mail({ body: `Pay to ${IBAN}` }), from)).toHaveLength(1);
  });

  it('are looked for in what is posted and called, too', () => {
    const post = { ...mail({}), type: 'webhook.post', params: { data: { account: { iban: IBAN } } } };
    expect(reasons(post)).toEqual([expect.stringContaining('The bank account DE89370400440532013000')]);
  });

  it.each([
    'DE89 3704 0044 0532 0130 01',
    'Order AB12 3456 7890 1234 5678',
    'the commit 3f2504e04f8911d39a0c0305e82c3301',
    'dir_01m81kf7kkyeqfsmz06vsktcgx',
    'Donaudampfschifffahrtsgesellschaftskapitaen',
    'call +43 660 1234567',
  ])('are not seen in: %s', (text) => {
    expect(accountsIn(text)).toEqual([]);
    expect(walletsIn(text)).toEqual([]);
  });
});

it('amounts in words are left to whoever reads them', () => {
  expect(reasons(mail({ body: 'Please pay five thousand euros.' }))).toEqual([]);
});

it('a text of 100,000 characters is looked at in little time', () => {
  for (const piece of [
    '1.',
    '1 ',
    'a@',
    '[a',
    '{',
    'www.',
    '€1 ',
    'a.com/',
    '%41',
    '1’000',
    'a.zip/',
    '1.1.1.1:',
    'DE89 ',
    'DE89',
    '1aA',
    'a。',
  ]) {
    const body = piece.repeat(100_000 / piece.length);
    const began = process.cpuUsage();
    checkDraft({ remarks: '', packets: [mail({ body })], concerns: [] }, work(TO_JANE));
    expect(process.cpuUsage(began).user, piece).toBeLessThan(2_000_000);
  }
});

it('links are found in a time linear in what stands behind them', () => {
  for (const behind of [')', '(', '()', ').', '(((]', '!?', '))(']) {
    const link = `https://acme.example/${behind.repeat(1_900 / behind.length)} `;
    const began = process.cpuUsage();
    linksIn(link.repeat(50));
    expect(process.cpuUsage(began).user, behind).toBeLessThan(300_000);
  }
});

it.each([
  ['https://acme.example/a).', ['acme.example/a']],
  ['https://acme.example/a_(b)', ['acme.example/a_(b)']],
  ['(https://acme.example/a_(b))', ['acme.example/a_(b)']],
  ['https://acme.example/a))', ['acme.example/a']],
  ['https://acme.example/(a!', ['acme.example/(a']],
])('what closes the bracket around a link is no part of it: %s', (text, links) => {
  expect(linksIn(text)).toEqual(links);
});

it('amounts are found alike where V8 no longer optimises expressions, as in a process that has compiled many', async () => {
  const file = (path: string) => new URL(path, import.meta.url).href;
  const texts = ['Das kostet 1.200,50 Euro.', '3 PERCENT', 'the top 3', 'All 5 of them'];
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--no-regexp-optimization',
    `--import=${file('../support/typescript-sources.mjs')}`,
    '--input-type=module',
    '--eval',
    `const { numbersIn } = await import('${file('../../src/features/capos/text-facts.ts')}');
     console.log(JSON.stringify(${JSON.stringify(texts)}.map((text) => numbersIn(text).map(({ unit }) => unit))));`,
  ]);
  expect(JSON.parse(stdout)).toEqual([['EUR'], ['%'], [null], [null]]);
});
