import { afterAll, describe, expect, it } from 'vitest';
import { RunnerFailed } from '../../src/features/capos/briefing.js';
import { BuiltinRunner } from '../../src/features/capos/builtin-runner.js';
import type { CapoRole } from '../../src/features/capos/capo.js';
import { briefing } from './briefings.js';

type Changes = Parameters<typeof briefing>[2];

const runner = new BuiltinRunner();
afterAll(() => runner.onApplicationShutdown());

const draft = (text: string, capo: CapoRole = 'capo_ops', changes: Changes = {}) =>
  runner.run(briefing(text, capo, changes), { signal: new AbortController().signal });

/** Subject and body of the only mail. */
async function mail(
  text: string,
  context: Record<string, unknown> | null = null,
  capo: CapoRole = 'capo_ops',
) {
  const { packets } = await draft(text, capo, { directive: { context } });
  expect(packets.map(({ type }) => type)).toEqual(['email.send']);
  return packets[0]!.params as { to: string[]; cc?: string[]; subject: string; body: string };
}

const SIGNED = 'Kind regards,  \nMara Klein  \nNorthwind';
const QUESTIONS = 'If you have any questions, please let me know.';
const REPLY = 'I look forward to hearing from you.';

describe('a mail', () => {
  it('is finished: subject, salutation, message, date, closing, sender', async () => {
    expect(
      await mail(
        'Tell Ada Lovelace (ada@example.com) that her order ships tomorrow and ask whether Friday afternoon works for the installation',
      ),
    ).toEqual({
      to: ['ada@example.com'],
      subject: 'Your order ships on Friday, 4 December',
      body: [
        'Hello Ada,',
        'Your order ships on Friday, 4 December.',
        'Could you let me know whether Friday afternoon (4 December) works for the installation?',
        REPLY,
        SIGNED,
      ].join('\n\n'),
    });
  });

  it.each([
    [
      'Email ada@x.com that the demo is moved to Friday at 3pm',
      'The demo is moved to Friday, 4 December at 3pm',
      'The demo is moved to Friday, 4 December at 3pm.',
    ],
    [
      'Remind bob.smith@x.com to sign the contract by Friday',
      'Reminder: sign the contract by Friday, 4 December',
      'This is a friendly reminder to sign the contract by Friday, 4 December.',
    ],
    [
      'Ask ada@x.com to review the contract and send it back by Friday',
      'Request: review the contract and send it back by Friday, 4 December',
      'Could you please review the contract and send it back by Friday, 4 December?',
    ],
    [
      'Ask ada@x.com when she can start and what her rate is',
      'A question: when you can start and what your rate is',
      'Could you tell me when you can start and what your rate is?',
    ],
    [
      'Ask ada@x.com whether she can join the call',
      'Can you join the call?',
      'Could you let me know whether you can join the call?',
    ],
    [
      'Can you email ada@x.com to ask for a call next week?',
      'Request: a call next week (from Monday, 7 December)',
      'Would you be available for a call next week (from Monday, 7 December)?',
    ],
    [
      'Thank ada@x.com for the order of 500 EUR and tell her we will deliver on 2026-12-10',
      'Thank you for the order of 500 EUR',
      'Thank you very much for the order of 500 EUR. We will deliver on Thursday, 10 December.',
    ],
    [
      'Apologise to ada@x.com for the late delivery, and offer her a 10% discount',
      'Apologies for the late delivery',
      'I apologise for the late delivery. I would like to offer you a 10% discount.',
    ],
    [
      'Send a payment reminder to ada@x.com for invoice 4711 over 1.200,50 EUR',
      'Reminder: the payment for invoice 4711 over 1.200,50 EUR',
      'This is a friendly reminder about the payment for invoice 4711 over 1.200,50 EUR.',
    ],
    [
      'Follow up with ada@x.com about the proposal of $12,000',
      'Following up on the proposal of $12,000',
      'I wanted to follow up on the proposal of $12,000. Could you let me know where things stand on your side?',
    ],
    [
      'Let ada@x.com know her replacement part arrives on Tuesday and apologise for the delay',
      'Your replacement part arrives on Tuesday, 8 December',
      'Your replacement part arrives on Tuesday, 8 December. I apologise for the delay.',
    ],
    [
      'Congratulate ada@x.com on the opening of her new shop!',
      'Congratulations on the opening of your new shop',
      'Congratulations on the opening of your new shop!',
    ],
    [
      'Confirm the appointment on Monday at 10:00 with ada@x.com',
      'Confirmation: the appointment on Monday, 7 December at 10:00',
      'I would like to confirm the appointment on Monday, 7 December at 10:00.',
    ],
    [
      'Schedule a call with ada@x.com on Friday',
      'Call on Friday, 4 December',
      'I would like to arrange a call on Friday, 4 December. Does that suit you, or would another time be better?',
    ],
    [
      'Write to orders@x.com and order 20 boxes of paper by next Tuesday',
      'Order 20 boxes of paper by Tuesday, 8 December',
      'I would like to order 20 boxes of paper by Tuesday, 8 December.',
    ],
    [
      'Write to ada@x.com: the shipment is late. We are sorry for the trouble.',
      'The shipment is late',
      'The shipment is late. We are sorry for the trouble.',
    ],
    [
      'Email ada@x.com. Tell her the demo moved. Ask whether 3pm works.',
      'The demo moved',
      'Could you let me know whether 3pm works?',
    ],
  ])('%s', async (text, subject, sentences) => {
    const { subject: line, body } = await mail(text);
    expect(line).toBe(subject);
    expect(body).toContain(sentences);
  });

  it('greets by name where a name is known, and simply where none is', async () => {
    expect(
      (await mail('email ada that it moved', { to: { name: 'Ada King', email: 'a@x.com' } })).body,
    ).toMatch(/^Hello Ada,\n/);
    expect((await mail('Email info@x.com that it moved')).body).toMatch(/^Hello,\n/);
    expect((await mail('Email ada.king@x.com and bob.ross@x.com that it moved')).body).toMatch(
      /^Hello Ada and Bob,\n/,
    );
    expect((await mail('Tell the team that it moved', { to: 'team@x.com' })).body).toMatch(/^Hello team,\n/);
  });

  it('adds no stock phrase to thanks', async () => {
    expect((await mail('Thank ada.king@x.com for the referral')).body).toBe(
      `Hello Ada,\n\nThank you very much for the referral.\n\n${SIGNED}`,
    );
  });

  it('is as formal or as short as the instruction says', async () => {
    const formal = await mail(
      "Write a formal email to Dr. Smith <smith@uni.edu> saying that we can't deliver",
    );
    expect(formal.body).toBe(
      `Dear Dr. Smith,\n\nWe cannot deliver.\n\n${QUESTIONS}\n\nYours sincerely,  \nMara Klein  \nNorthwind`,
    );
    const short = await mail('Email ada.king@x.com that it moved. Keep it short.');
    expect(short.body).toBe(`Hello Ada,\n\nIt moved.\n\n${SIGNED}`);
  });

  it('takes subject, copies and quoted text as they are given', async () => {
    const { subject, cc, body } = await mail(
      'Email ada.king@x.com with the subject "Invoice 42", cc bob@x.com, saying "She said: pay by Friday."',
    );
    expect({ subject, cc }).toEqual({ subject: 'Invoice 42', cc: ['bob@x.com'] });
    expect(body).toContain('\n\nShe said: pay by Friday.\n\n');
  });

  it('does not greet twice where the operator handed in a whole letter', async () => {
    const { body } = await mail('Email ada@x.com saying "Hi [Name], the invoice is on its way."');
    expect(body).toBe(`Hi there, the invoice is on its way.\n\n${SIGNED}`);
  });

  it('carries text that the context supplies', async () => {
    const { subject, body } = await mail('Send the proposal to Ada', {
      to: 'a@x.com',
      text: 'Ten seats cost 900 EUR.',
    });
    expect(subject).toBe('Proposal');
    expect(body).toContain('Here is the proposal:\n\nTen seats cost 900 EUR.');
  });

  it('goes to each customer alone, so that nobody reads the others', async () => {
    const { packets, summary } = await draft('Let the customers know that delivery is delayed', 'capo_ops', {
      directive: { context: { recipients: ['a@x.com', 'Bea Arthur <b@x.com>'], cc: 'boss@x.com' } },
    });
    expect(packets.map(({ params }) => [params.to, params.cc])).toEqual([
      [['a@x.com'], ['boss@x.com']],
      [['b@x.com'], undefined],
    ]);
    expect(packets[1]?.params.body).toMatch(/^Hello Bea,/);
    expect(summary).toContain('(to each alone)');
  });

  it('says what it left out and what it was unsure of', async () => {
    const aside = await draft('Email ada@x.com that it moved. She is difficult, so be careful.');
    expect(aside.summary).toContain('Taken as background and left out: “She is difficult, so be careful.”');
    expect(aside.packets[0]?.params.body).not.toContain('difficult');
    const unclear = await draft('Tell ada@x.com that Bob sent his invoice');
    expect(unclear.summary).toContain('Left as written because somebody else may be meant: “his”.');
    const timed = await draft('Tomorrow, email ada@x.com that it moved');
    expect(timed.summary).toContain('It leaves when it is approved; the instruction says Tomorrow.');
  });

  it('tells the approver why, with what is known about the buyer', async () => {
    const { packets } = await draft('Follow up with Acme about the price', 'capo_revenue', {
      directive: { priority: 'high', deadline: '2026-12-03T18:00:00Z' },
      buyerContext: {
        profiles: [
          {
            buyerId: 'b1',
            segment: 'agencies',
            stage: 'evaluation',
            confidence: 0.6,
            topGap: 'price_fit',
            updatedAt: 0,
            name: 'Acme',
            email: 'jo@acme.com',
          },
        ],
        aggregate: { count: 1, averageConfidence: 0.6, topGap: 'price_fit' },
      },
      signals: [
        {
          signalId: 's',
          type: 'buyer',
          severity: 'warning',
          title: 'Acme asks about the price',
          body: '',
          score: 0.7,
          createdAt: 0,
        },
      ],
    });
    expect(packets[0]).toMatchObject({
      title: 'Mail to Acme: Following up on the price',
      target: 'jo@acme.com',
      rationale:
        'The instruction asks for a mail to Acme. Acme is a known buyer: in stage evaluation, confidence 60 % and main gap price fit. Related signal: Acme asks about the price.',
      multipliers: { priority: 1.5, deadline: 1.25, signals: 1.2 },
    });
  });
});

describe('a mail that cannot leave', () => {
  it.each([
    ['has no address', 'Tell Bob that it moved', 'capo_ops', 'There is no address for Bob', 'Hello Bob,'],
    [
      'names a kind of people nobody knows',
      'Notify subscribers about the new price',
      'capo_marketing',
      'There is no address for “subscribers”',
      'I would like to let you know about the new price.',
    ],
    [
      'has nothing to say',
      'email bob@x.com',
      'capo_ops',
      'does not say what the mail is to tell',
      '# Mail to bob@x.com',
    ],
    [
      'announces what nobody supplied',
      'Send the proposal to bob@x.com',
      'capo_revenue',
      'The mail is to carry the proposal, which nobody supplied',
      '**Subject:** Proposal',
    ],
    [
      'still has a field to fill',
      'Email bob@x.com saying "The total is [Amount]."',
      'capo_ops',
      'still waits for “[Amount]”',
      'The total is [Amount].',
    ],
    [
      "is outside the engine's scope",
      'Email ada@x.com that it moved',
      'capo_product',
      'outside the product engine: hand it to Ops, Revenue or Marketing',
      'It moved.',
    ],
  ] as const)(
    'because it %s is filed with its text, and says so',
    async (_case, text, capo, missing, content) => {
      const { packets, summary } = await draft(text, capo);
      expect(packets.map(({ type }) => type)).toEqual(['document.file']);
      expect(summary).toContain(missing);
      expect(packets[0]?.params.body).toContain(missing);
      expect(packets[0]?.params.body).toContain(content);
    },
  );
});

describe('money', () => {
  it('is recorded with source and purpose, and the payer can be thanked', async () => {
    const { packets } = await draft(
      'Record 1.200,50 EUR from Acme for the annual plan and thank them',
      'capo_revenue',
      {
        directive: { context: { customer: { name: 'Acme', email: 'jo@acme.com' } } },
      },
    );
    expect(packets[0]).toMatchObject({
      title: 'Record EUR 1,200.50 from Acme',
      type: 'revenue.record',
      params: { amount: 1200.5, currency: 'EUR', source: 'Acme', description: 'Annual plan' },
    });
    expect(packets[1]?.params).toMatchObject({
      to: ['jo@acme.com'],
      subject: 'Thank you for your payment of EUR 1,200.50',
    });
  });

  it.each([
    ['Record 2k from Acme', 'capo_revenue', 'The currency of 2000 is not named, and none is assumed.'],
    ['Record 200 EUR', 'capo_revenue', 'It does not say from whom the money came.'],
    ['Log a refund of 200 EUR to Bob', 'capo_revenue', 'The ledger records income'],
    ['Record 200 EUR from Acme', 'capo_ops', 'outside this engine: hand it to Revenue'],
  ] as const)('is not recorded on a guess: %s', async (text, capo, missing) => {
    const { packets, summary } = await draft(text, capo);
    expect(packets.map(({ type }) => type)).toEqual(['document.file']);
    expect(summary).toContain(missing);
  });
});

describe('a signal', () => {
  it.each([
    [
      'Flag the churn risk at Acme as critical',
      { type: 'revenue', severity: 'critical', title: 'Churn risk at Acme', body: 'The churn risk at Acme.' },
    ],
    [
      'Flag that two orders are late',
      { type: 'revenue', severity: 'warning', title: 'Two orders are late', body: 'Two orders are late.' },
    ],
    [
      'Remind me to call Bob on Friday',
      {
        type: 'revenue',
        severity: 'info',
        title: 'Reminder: call Bob on Friday, 4 December',
        body: 'Call Bob on Friday, 4 December.',
      },
    ],
  ])('%s', async (text, params) => {
    const { packets } = await draft(text, 'capo_revenue');
    expect(packets).toMatchObject([{ type: 'signal.raise', params }]);
  });
});

describe('delegation', () => {
  it('makes one directive per capo, with dates that can be read tomorrow', async () => {
    const { packets } = await draft(
      'Have marketing write the launch announcement by Friday and ask ops to prepare the shipment',
      'ceo',
      { directive: { priority: 'high' } },
    );
    expect(packets.map(({ type, params }) => [type, params])).toEqual([
      [
        'directive.create',
        {
          directive: 'Write the launch announcement by Friday, 4 December.',
          capo: 'capo_marketing',
          priority: 'high',
        },
      ],
      ['directive.create', { directive: 'Prepare the shipment.', capo: 'capo_ops', priority: 'high' }],
    ]);
  });

  it.each([
    [
      'Have sales call Acme and product fix the export',
      ['capo_revenue: Call Acme.', 'capo_product: Fix the export.'],
    ],
    [
      'Delegate the pricing review to sales by next week',
      ['capo_revenue: Take care of the pricing review by next week (from Monday, 7 December).'],
    ],
    ['Tell ops that the truck is late', ['capo_ops: Take into account: the truck is late.']],
  ])('%s', async (text, expected) => {
    const { packets } = await draft(text, 'ceo');
    expect(packets.map(({ params }) => `${String(params.capo)}: ${String(params.directive)}`)).toEqual(
      expected,
    );
  });

  it('is only noted by a capo who cannot delegate', async () => {
    const { packets, summary } = await draft('Ask marketing to write the announcement', 'capo_ops');
    expect(packets).toMatchObject([{ type: 'document.file' }]);
    expect(summary).toBe(
      'Only the CEO capo can hand work on: give this directive to Marketing (`capo_marketing`).',
    );
  });
});

describe('a document', () => {
  it('spreads a checklist of the operator over the days until the date', async () => {
    const { body } = await draft(
      'Write a checklist for the office move on 20 December: order boxes, book the truck, tell the landlord and change the address',
    );
    expect(body).toContain(
      [
        '## Checklist',
        '',
        '- [ ] By Monday, 7 December: Order boxes',
        '- [ ] By Friday, 11 December: Book the truck',
        '- [ ] By Wednesday, 16 December: Tell the landlord',
        '- [ ] By Sunday, 20 December: Change the address',
      ].join('\n'),
    );
  });

  it('has the facts, the buyers, the signals and the orders that belong to it', async () => {
    const { body, packets } = await draft(
      'Plan a campaign for the spring launch with a budget of 2k EUR',
      'capo_marketing',
      {
        buyerContext: {
          profiles: [
            {
              buyerId: 'b',
              segment: 'agencies',
              stage: 'trial',
              confidence: 0.5,
              topGap: 'trust',
              updatedAt: 0,
            },
          ],
          aggregate: { count: 1, averageConfidence: 0.5, topGap: 'trust' },
        },
        signals: [
          {
            signalId: '1',
            type: 'buyer',
            severity: 'warning',
            title: 'Spring launch is asked for',
            body: 'Twice.',
            score: null,
            createdAt: 0,
          },
          {
            signalId: '2',
            type: 'connector',
            severity: 'info',
            title: 'Unrelated',
            body: '',
            score: null,
            createdAt: 0,
          },
        ],
        standingOrders: [
          { name: 'Quiet', text: 'Nothing at night', effect: 'deny', capos: [] },
          { name: 'Discounts', text: 'Up to 10 %', effect: 'allow', capos: ['capo_revenue'] },
        ],
      },
    );
    expect(packets[0]?.params.title).toBe('Plan: Campaign for the spring launch with a budget of 2k EUR');
    expect(body).toContain('- Amounts: EUR 2,000');
    expect(body).toContain('- By segment: agencies (1).');
    expect(body).toContain(
      '3. Write the text. Lead with a reference, a guarantee or a named person to call.',
    );
    expect(body).toContain('- Warning: Spring launch is asked for. Twice.');
    expect(body).toContain('- Quiet (deny): Nothing at night');
    expect(body).not.toMatch(/Unrelated|Discounts/);
  });

  it('summarises a text by its own sentences', async () => {
    const notes =
      'Users love the new search. The search is fast and the search results are relevant. Three users reported that login fails on mobile. Login problems come from expired sessions. The weather was nice. We should fix the login on mobile before the release. Somebody brought cake to the meeting.';
    const { body } = await draft('Summarise the notes', 'capo_product', {
      directive: { context: { notes } },
    });
    expect(body).toContain('- Three users reported that login fails on mobile.');
    expect(body).not.toMatch(/cake|weather/);
  });

  it('holds the text itself where the instruction says what it says', async () => {
    const { body } = await draft(
      'Write a LinkedIn post announcing that we open our Berlin office on Monday',
      'capo_marketing',
    );
    expect(body).toContain(
      '## Text\n\nWe are pleased to announce that we open our Berlin office on Monday, 7 December.',
    );
  });

  it('makes text from outside harmless', async () => {
    const { body } = await draft('Plan the launch', 'capo_marketing', {
      signals: [
        {
          signalId: '1',
          type: 'partner',
          severity: 'info',
          title: 'Launch [click](https://evil.example) <b>',
          body: '# Heading\n**x**',
          score: null,
          createdAt: 0,
        },
      ],
    });
    expect(body).toContain(String.raw`Launch \[click\](https://evil.example) \<b\>`);
    expect(body).not.toMatch(/^# Heading/m);
  });
});

describe('the CEO capo', () => {
  it('writes where the business stands and what to decide, gravest first', async () => {
    const { body, summary } = await draft('Brief me on where we stand', 'ceo', {
      signals: [
        {
          signalId: '1',
          type: 'revenue',
          severity: 'warning',
          title: 'Churn rises',
          body: '',
          score: null,
          createdAt: 1,
        },
        {
          signalId: '2',
          type: 'connector',
          severity: 'critical',
          title: 'Mail is down',
          body: '3 failures',
          score: null,
          createdAt: 0,
        },
      ],
      metrics: { currency: 'EUR', revenue24h: 0, revenue24hByCurrency: {}, signalsScored: 2 },
    });
    expect(summary).toBe(
      'Strategic brief, Thursday, 3 December. First: Resolve the critical signal “Mail is down” today, and name who does it.',
    );
    expect(body).toContain(
      '- Revenue in the last 24 hours: EUR 0\n- Signals scored: 2\n- Guardian: guardrailed, 2 work packets pending',
    );
    expect(body.match(/^\d\. .*/gm)).toEqual([
      '1. Resolve the critical signal “Mail is down” today, and name who does it.',
      '2. Review the 2 pending work packets: approve what is right, reject the rest with a reason.',
      '3. Ask Revenue which open deal can close this week; the last 24 hours brought nothing in.',
      '4. Assign the one warning to a capo.',
    ]);
  });
});

describe('the runner', () => {
  it('says that it is the built-in one and costs nothing', async () => {
    expect(await draft('Do it')).toMatchObject({
      engine: { name: 'builtin', model: null },
      cost: { amount: 0, currency: 'USD', tokensIn: 0, tokensOut: 0 },
    });
  });

  it('does not start when it was stopped before', async () => {
    const run = runner.run(briefing('Do it', 'ceo'), { signal: AbortSignal.abort() });
    await expect(run).rejects.toThrow(RunnerFailed);
    await expect(run).rejects.toMatchObject({ code: 'aborted', retryable: false });
  });

  it('is stopped at once by the signal', async () => {
    const controller = new AbortController();
    const run = runner.run(briefing('Do it', 'ceo'), { signal: controller.signal });
    controller.abort();
    await expect(run).rejects.toMatchObject({ code: 'aborted', retryable: false });
  });

  describe('over code that goes wrong', () => {
    const over = (timeLimitMs: number) =>
      new BuiltinRunner({
        entry: new URL('./hostile-capo.js', import.meta.url),
        size: 2,
        timeLimitMs,
        memoryLimitMb: 48,
      });
    // Only what never ends meets its limit, however busy the machine is.
    const [hurried, patient] = [over(1_000), over(60_000)] as const;
    afterAll(() => Promise.all([hurried.onApplicationShutdown(), patient.onApplicationShutdown()]));
    const run = (text: string) =>
      (text === 'loop' ? hurried : patient).run(briefing(text, 'ceo'), {
        signal: new AbortController().signal,
      });

    it.each([
      [
        'loop',
        'timeout',
        'The built-in runner needed more than 1 s for this text; nothing was drafted.',
        false,
      ],
      [
        'eat memory',
        'out_of_memory',
        'The built-in runner needed more than 48 MB of memory for this text; nothing was drafted.',
        false,
      ],
      ['crash', 'crashed', 'The built-in runner ended unexpectedly; nothing was drafted.', true],
      [
        'write too much',
        'invalid_output',
        'The body has 1,000,000 characters; at most 100,000 are allowed. Nothing was drafted.',
        false,
      ],
    ])('fails when told to %s, and drafts the next', async (text, code, message, retryable) => {
      const failure = await run(text).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RunnerFailed);
      expect(failure).toMatchObject({ code, message, retryable });
      expect(await run('draft')).toMatchObject({ summary: 'Ready.' });
    });

    it('hands on what the code throws, as the defect it is', async () => {
      const failure = await run('throw').catch((error: unknown) => error);
      expect(failure).not.toBeInstanceOf(RunnerFailed);
      expect(failure).toMatchObject({ message: 'A defect.', stack: expect.stringContaining('hostile-capo') });
    });

    it('drafts for others while one text loops', async () => {
      const controller = new AbortController();
      const looping = patient
        .run(briefing('loop', 'ceo'), { signal: controller.signal })
        .catch((error: unknown) => error);
      const others = await Promise.all(Array.from({ length: 20 }, () => run('draft')));
      expect(others).toHaveLength(20);
      controller.abort();
      expect(await looping).toMatchObject({ code: 'aborted' });
    });
  });
});
