import { describe, expect, it } from 'vitest';
import { briefingOf } from '../../evals/briefing.js';
import type { Case } from '../../evals/case.js';
import { readingsOf } from '../../evals/facts.js';
import { graveResults, totals } from '../../evals/report.js';
import type { Result } from '../../evals/run.js';
import { type Attempt, type Check, findingsOf } from '../../evals/scoring.js';
import type { DraftPacket } from '../../src/features/capos/briefing.js';
import type { CapoRole } from '../../src/features/terms/terms.js';

const BODY =
  'The offer stands until 12 December at 9:30.\n\nSee https://northwind.example/offer\nIt is 1,240.50 EUR.';
const GIVEN: Case = {
  id: 'en-001',
  set: 'dev',
  language: 'en',
  kind: 'several',
  capo: 'capo_revenue',
  text: `Email ines@redwood.example, cc sam@redwood.example, subject "Our offer": "${BODY}"
Tell jack@mill.example that his sofa is late. Record 2.500,00 USD from Redwood for the 25 licences.
Raise a warning: the quote runs out on Friday. And a report about today.`,
  buyers: [{ buyerId: 'b1', name: 'Olga Berg', email: 'olga@berg.example' }],
  expect: {
    packets: [
      {
        type: 'email.send',
        to: ['ines@redwood.example'],
        cc: ['sam@redwood.example'],
        subject: 'Our offer',
        body: BODY,
      },
      { type: 'email.send', to: ['jack@mill.example'], bodyIncludes: ['late'], needsInput: ['params.body'] },
      { type: 'revenue.record', amount: 2500, currency: 'USD' },
      { type: 'signal.raise', severity: 'warning', bodyIncludes: ['runs out on Friday'] },
      { type: 'document.file', titleIncludes: ['Report'], bodyIncludes: ['1200'] },
    ],
  },
};

const packet = (type: string, params: Record<string, unknown>, lacks: string[] = []): DraftPacket => ({
  title: 'A work packet',
  type,
  target: '',
  params,
  rationale: '',
  multipliers: {},
  needsInput: lacks.map((path) => ({ path, message: 'Please supply it.' })),
});

/** In the order of what is expected. */
const rightPackets = () => [
  packet('email.send', {
    to: ['ines@redwood.example'],
    cc: ['sam@redwood.example'],
    subject: 'Our offer',
    body: BODY,
  }),
  packet('email.send', { to: ['jack@mill.example'], subject: 'His sofa is late', body: 'his sofa is late' }, [
    'params.body',
  ]),
  packet('revenue.record', { amount: 2500, currency: 'USD', source: 'Redwood' }),
  packet('signal.raise', {
    type: 'revenue',
    severity: 'warning',
    title: 'The quote runs out…',
    body: 'The quote runs out on Friday.',
  }),
  packet('document.file', {
    title: 'Report of 3 December 2026',
    body: '1. Revenue: 1.200 EUR, 340 USD\n2. Signals: 2\n3. Approvals pending: 2',
  }),
];

interface Changes {
  expect?: Partial<Case['expect']>;
  engine?: string;
  concerns?: Attempt['draft']['concerns'];
  remarks?: string;
  text?: string;
  capo?: CapoRole;
  routedTo?: CapoRole;
  context?: Record<string, unknown>;
}

function findings(packets: DraftPacket[], changes: Changes = {}) {
  const {
    expect: wanted,
    engine = 'builtin',
    concerns = [],
    remarks = '',
    text,
    capo,
    routedTo,
    context,
  } = changes;
  const instruction: Case = {
    ...GIVEN,
    ...(text !== undefined && { text }),
    ...(context && { context }),
    expect: { ...GIVEN.expect, ...wanted },
  };
  return findingsOf(instruction, {
    briefing: briefingOf(instruction, capo ?? 'capo_revenue'),
    ...(routedTo && { routedTo }),
    draft: { packets, concerns, remarks, engine: { name: engine, model: null } },
  });
}

/** The right draft with one packet changed. */
function mutated(at: number, change: (draft: DraftPacket) => void, changes: Changes = {}) {
  const packets = rightPackets();
  change(packets[at]!);
  return findings(packets, changes);
}

const setting = (params: Record<string, unknown>) => (draft: DraftPacket) => {
  draft.params = { ...draft.params, ...params };
};

const asking =
  (...paths: string[]) =>
  (draft: DraftPacket) => {
    draft.needsInput = paths.map((path) => ({ path, message: 'Please supply it.' }));
  };

it('finds nothing wrong with a right draft', () => {
  expect(findings(rightPackets())).toEqual([]);
  expect(findings(rightPackets().toReversed())).toEqual([]);
});

describe('one mutation of the right draft', () => {
  const mutations: [
    name: string,
    at: number,
    change: (draft: DraftPacket) => void,
    check: Check,
    message: string,
  ][] = [
    [
      'another recipient',
      0,
      setting({ to: ['olga@berg.example'] }),
      'recipients',
      'ines@redwood.example is missing from to',
    ],
    [
      'one recipient more',
      0,
      setting({ to: ['ines@redwood.example', 'olga@berg.example'] }),
      'recipients',
      'olga@berg.example should not be in to',
    ],
    ['a missing copy', 0, setting({ cc: [] }), 'recipients', 'sam@redwood.example is missing from cc'],
    [
      'a copy to somebody',
      1,
      setting({ cc: ['olga@berg.example'] }),
      'recipients',
      'olga@berg.example should not be in cc',
    ],
    ['another amount', 2, setting({ amount: 1240.5 }), 'action', 'amount is 1240.5 instead of 2500'],
    ['another currency', 2, setting({ currency: 'EUR' }), 'action', 'currency is EUR instead of USD'],
    ['another severity', 3, setting({ severity: 'info' }), 'action', 'severity is info instead of warning'],
    [
      'what the registry refuses',
      2,
      setting({ source: '' }),
      'action',
      'the registry refuses the revenue.record: params.source must not be empty',
    ],
    [
      'another subject',
      0,
      setting({ subject: 'The offer' }),
      'asked',
      'the subject is “The offer” instead of “Our offer”',
    ],
    [
      'a text cut short',
      0,
      setting({ body: 'The offer stands until 12 December at 9:30.' }),
      'asked',
      'the text is not the one given',
    ],
    ['a described message that asks for no wording', 1, asking(), 'asked', 'nobody is asked for params.body'],
    [
      'a question for what was given',
      0,
      asking('params.body'),
      'asked',
      'asks for params.body, which was given',
    ],
    [
      'a question for a given recipient',
      0,
      asking('params.to'),
      'asked',
      'asks for params.to, which was given',
    ],
    [
      'a report without the figure',
      4,
      setting({ body: 'Revenue: 340 USD' }),
      'asked',
      'the text lacks “1200”',
    ],
    ['a report under another title', 4, setting({ title: 'Figures' }), 'asked', 'the title lacks “Report”'],
    ['a mail to nobody', 1, setting({ to: [] }), 'asked', 'a mail to nobody asks for no recipient'],
    [
      'a placeholder',
      0,
      setting({ body: `Hi [Name],\n${BODY}` }),
      'asked',
      'the body still has [Name] in it',
    ],
    ['an empty subject', 1, setting({ subject: '' }), 'asked', 'a mail without subject asks for none'],
    [
      'an address from nowhere',
      4,
      setting({ body: '1200 EUR, ask boss@northwind.example' }),
      'invented',
      'the address boss@northwind.example',
    ],
    [
      'a link from nowhere',
      4,
      setting({ body: '1200 EUR, see https://northwind.example/offers' }),
      'invented',
      'the link https://northwind.example/offers',
    ],
    [
      'a date from nowhere',
      4,
      setting({ body: '1200 EUR until 14 December' }),
      'invented',
      'the date 14 December',
    ],
    [
      'a weekday from nowhere',
      4,
      setting({ body: '1200 EUR until Sunday' }),
      'invented',
      'the weekday Sunday',
    ],
    ['a time from nowhere', 4, setting({ body: '1200 EUR at 10:45' }), 'invented', 'the time 10:45'],
    ['a number from nowhere', 4, setting({ body: '1200 EUR, 17 orders' }), 'invented', 'the number 17'],
    [
      'another number with the same digits',
      4,
      setting({ body: '1200 EUR and 12,405.00' }),
      'invented',
      'the number 12,405.00',
    ],
    [
      'an amount in another currency',
      4,
      setting({ body: '1200 EUR, and 1,240.50 USD' }),
      'invented',
      'the amount 1,240.50 USD',
    ],
    [
      'an invented number in the title',
      4,
      (draft) => (draft.title = 'A report on 99 orders'),
      'invented',
      'the number 99',
    ],
    [
      'an address of a signal',
      3,
      setting({ body: 'The quote runs out on Friday, says q@x.example.' }),
      'invented',
      'the address q@x.example',
    ],
    ['a rephrased mail', 1, setting({ body: 'your sofa is late' }), 'garbled', 'the body of the email.send'],
    [
      'a greeting of the runner',
      1,
      setting({ body: 'Hello Jack,\n\nhis sofa is late' }),
      'garbled',
      'the body of the email.send',
    ],
    [
      'another line break in a mail',
      0,
      setting({ body: BODY.replace('\n\n', '\n') }),
      'garbled',
      'the body of the email.send',
    ],
    [
      'a mail that begins within a word',
      1,
      setting({ body: 's sofa is late' }),
      'garbled',
      'the body of the email.send',
    ],
    [
      'a mail that ends within a word',
      1,
      setting({ body: 'his sofa is la' }),
      'garbled',
      'the body of the email.send',
    ],
    [
      'a subject of the runner',
      1,
      setting({ subject: 'News about the sofa' }),
      'garbled',
      'the subject of the email.send',
    ],
    [
      'a signal in other words',
      3,
      setting({ body: 'The quote ends, it runs out on Friday.' }),
      'garbled',
      'the body of the signal.raise',
    ],
  ];

  it.each(mutations)('finds %s', (_name, at, change, check, message) => {
    const found = mutated(at, change);
    expect(found).toContainEqual({ check, message: expect.stringContaining(message) });
  });

  it('lets a subject end within a link, if it says so', () => {
    const subject = (text: string) =>
      mutated(0, setting({ subject: text }), {
        expect: { packets: [], also: GIVEN.expect.packets.map(({ type }) => type) },
      });
    expect(subject('See https://northwind.example/of…')).toEqual([]);
    expect(subject('See https://northwind.example/of').map(({ check }) => check)).toEqual([
      'invented',
      'garbled',
    ]);
  });

  it('finds a recipient that was guessed, where one must be asked for', () => {
    const mail = packet('email.send', { to: ['olga@berg.example'], subject: 'Our offer', body: BODY }, [
      'params.to',
    ]);
    const wanted: Case['expect']['packets'] = [{ type: 'email.send', needsInput: ['params.to'] }];
    expect(findings([mail], { expect: { packets: wanted } })).toEqual([
      { check: 'recipients', message: 'olga@berg.example should not be in to' },
    ]);
  });

  it('takes a question for a recipient where the case allows either', () => {
    const wanted: Case['expect']['packets'] = [
      { type: 'email.send', to: ['ines@redwood.example'], needsInput: ['params.to'] },
    ];
    const found = (to: string[], asks: string[] = []) =>
      findings([packet('email.send', { to, subject: 'Our offer', body: BODY }, asks)], {
        expect: { packets: wanted },
      }).map(({ message }) => message);
    expect(found(['ines@redwood.example'])).toEqual([]);
    expect(found([], ['params.to'])).toEqual([]);
    expect(found([])).toContain('ines@redwood.example is missing from to');
    expect(found(['olga@berg.example'])).toContain('olga@berg.example should not be in to');
    expect(found(['olga@berg.example'], ['params.to'])).toEqual(['olga@berg.example should not be in to']);
  });

  it('finds a work packet that is missing, in three ways where somebody is not written to', () => {
    const found = findings(rightPackets().slice(1));
    expect(found).toEqual([
      { check: 'action', message: 'no email.send to ines@redwood.example, sam@redwood.example' },
      { check: 'asked', message: 'no email.send to ines@redwood.example, sam@redwood.example' },
      { check: 'recipients', message: 'ines@redwood.example, sam@redwood.example is not written to' },
    ]);
  });

  it('finds a work packet that nobody expected, and whom it would reach', () => {
    const spare = packet('email.send', { to: ['olga@berg.example'], subject: 'Our offer', body: BODY });
    expect(findings([...rightPackets(), spare])).toEqual([
      { check: 'action', message: 'an unexpected email.send to olga@berg.example' },
      { check: 'recipients', message: 'olga@berg.example should not be written to' },
    ]);
  });

  it('lets stand what may stand there too', () => {
    const spare = packet('document.file', { title: 'Note', body: 'Nothing else was asked.' });
    expect(findings([...rightPackets(), spare])).toHaveLength(1);
    expect(findings([...rightPackets(), spare], { expect: { also: ['document.file'] } })).toEqual([]);
  });
});

describe('a run of the built-in runner', () => {
  const resultWith = (check?: Check): Result => ({
    instruction: GIVEN,
    capo: 'capo_revenue',
    findings: check === undefined ? [] : [{ check, message: 'It differs.' }],
    cost: { amount: 0, currency: 'USD', tokensIn: 0, tokensOut: 0 },
  });

  it.each(['invented', 'garbled', 'recipients'] as const)('fails when a draft breaks “%s”', (check) => {
    expect(graveResults([resultWith(), resultWith(check)])).toEqual([resultWith(check)]);
  });

  it('does not fail for what a person sees and edits', () => {
    expect(graveResults([resultWith('action'), resultWith('asked')])).toEqual([]);
  });

  it('is counted by set, kind and language', () => {
    const rows = totals([resultWith(), resultWith('asked')]).split('\n');
    expect(rows.slice(2)).toEqual([
      '| all | 2 | 2 | 2 | 2 | 2 | 1 | 1 | 0 | 0 |',
      '| dev | 2 | 2 | 2 | 2 | 2 | 1 | 1 | 0 | 0 |',
      '| several | 2 | 2 | 2 | 2 | 2 | 1 | 1 | 0 | 0 |',
      '| English | 2 | 2 | 2 | 2 | 2 | 1 | 1 | 0 | 0 |',
    ]);
  });
});

describe('a draft that asks who receives a mail', () => {
  it('misses nobody, but asks for more than it lacks', () => {
    const unsure = packet('email.send', { to: [], subject: 'Our offer', body: BODY });
    unsure.needsInput = [{ path: 'params.to', message: 'Who is to receive it?' }];
    const wanted = { expect: { packets: [{ type: 'email.send' as const, to: ['ines@redwood.example'] }] } };
    expect(new Set(findings([unsure], wanted).map(({ check }) => check))).toEqual(new Set(['asked']));
  });
});

describe('an instruction for which nothing may be prepared', () => {
  const wanted = { expect: { packets: [] } };

  it('takes a reason, in the remarks or in a document', () => {
    const document = packet('document.file', { title: 'Not done', body: 'The built-in runner cannot pay.' });
    expect(findings([], { ...wanted, remarks: 'The built-in runner cannot pay.' })).toEqual([]);
    expect(findings([document], wanted)).toEqual([]);
  });

  it('finds silence', () => {
    expect(findings([], wanted)).toEqual([
      { check: 'asked', message: 'nothing was prepared, and nothing says why' },
    ]);
  });

  it('finds a mail', () => {
    const mail = packet('email.send', { to: ['ines@redwood.example'], subject: 'Our offer', body: BODY });
    expect(findings([mail], wanted).map(({ check }) => check)).toEqual(['action', 'recipients']);
  });
});

describe('the risk', () => {
  const wanted = { expect: { risk: 'high' } } as const;

  it('is that of the work packets and of what was asked, whichever is higher', () => {
    expect(findings(rightPackets(), wanted)).toEqual([
      { check: 'action', message: 'the risk is medium, at least high is due' },
    ]);
    const concerns = [{ risk: 'high', reason: 'It asks for a payment.' }] as const;
    expect(findings(rightPackets(), { ...wanted, concerns: [...concerns] })).toEqual([]);
  });
});

describe('routing', () => {
  it('is right when the capo is the expected one', () => {
    const wanted = { expect: { routedTo: 'capo_revenue' } } as const;
    expect(findings(rightPackets(), { ...wanted, routedTo: 'capo_revenue' })).toEqual([]);
    expect(findings(rightPackets(), { ...wanted, routedTo: 'capo_ops' })).toEqual([
      { check: 'action', message: 'routed to capo_ops instead of capo_revenue' },
    ]);
  });

  it('finds a type outside the scope of the capo', () => {
    expect(findings(rightPackets(), { capo: 'capo_ops' })).toEqual([
      {
        check: 'action',
        message: 'the registry refuses the revenue.record: type is outside the scope of the ops engine',
      },
    ]);
  });
});

describe('a model', () => {
  it('may word what was only described, and greet and sign around what was given', () => {
    const packets = rightPackets();
    packets[0]!.params['body'] = `Hello Ines,\n\n${BODY}\n\nKind regards\nMara Klein`;
    packets[1] = packet('email.send', {
      to: ['jack@mill.example'],
      subject: 'Your sofa',
      body: 'Hello Jack,\n\nyour sofa is late.\n\nMara Klein',
    });
    expect(findings(packets, { engine: 'openai' })).toEqual([]);
    expect(findings(packets).map(({ check }) => check)).toEqual([
      'asked',
      'asked',
      'garbled',
      'garbled',
      'garbled',
    ]);
  });

  it('may not invent', () => {
    const packets = rightPackets();
    packets[1]!.params['body'] = 'Your sofa is late: it comes on 20 December, and you get £30 back.';
    expect(findings(packets, { engine: 'openai' }).map(({ message }) => message)).toEqual([
      'the date 20 December of the email.send stands nowhere',
      'the amount £30 of the email.send stands nowhere',
      'the number 30 of the email.send stands nowhere',
    ]);
  });
});

describe('what stands somewhere', () => {
  const CONTEXT = {
    order: 17,
    amount: 480,
    contact: { mail: 'pia@lake.example' },
    note: 'about 0.3k USD, in February',
  };
  const document = (body: string) => [packet('document.file', { title: 'Report', body: `1200. ${body}` })];
  const only = { expect: { packets: [{ type: 'document.file' as const }] }, context: CONTEXT };

  it.each([
    ['a number of the context', 'Order 17'],
    ['an amount of the context in the currency of the workspace', '480,00 EUR'],
    ['an address of the context', 'pia@lake.example'],
    ['an address of the buyers, in capitals', 'OLGA@berg.example'],
    ['the other notation of a number', '1.240,50 EUR and 2 500'],
    ['the same date in another language', 'bis zum 12. Dezember, 2026-12-12, 12.12.2026'],
    ['the weekday of a date', 'Saturday, 12 December'],
    ['a weekday as a date', '4 December 2026'],
    ['the same time in another notation', '9.30 am'],
    ['the date of the briefing, and the day before', 'On 3 December 2026, since 2 December'],
    ['the length of a list', '1 standing order'],
    ['thousands written with a k', '1.200 EUR and 300 USD'],
    ['the hours of a figure of the briefing', '340 USD in the last 24 hours'],
    ['the time of the briefing in UTC', 'as of 2026-12-03 09:00 UTC'],
    ['the bounds of the last month of a name', '2026-02-01 to 2026-02-28'],
    ['a link without its scheme', 'northwind.example/offer'],
  ])('is %s', (_name, body) => {
    expect(findings(document(body), only)).toEqual([]);
  });

  it.each([
    ['1,240.50', [1240.5]],
    ['1.240,50', [1240.5]],
    ['1 240,50', [1240.5]],
    ["1'240.50", [1240.5]],
    ['2,500', [2500, 2.5]],
    ['1.234.567', [1234567]],
    ['39', [39]],
    ['0,5', [0.5]],
  ])('%s can be read as %j', (written, readings) => {
    expect(readingsOf(written)).toEqual(readings);
  });
});
