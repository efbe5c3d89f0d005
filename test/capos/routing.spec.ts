import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StandingOrderBrief } from '../../src/features/capos/briefing.js';
import { CAPO_ROLES, type CapoRole } from '../../src/features/capos/capo.js';
import { routeDirective, type RouteRequest } from '../../src/features/consigliere/route.js';

const route = (text: string, changes: Partial<RouteRequest> = {}) =>
  routeDirective({ text, priority: 'medium', context: null, standingOrders: [], ...changes });

const DIRECTIVES: Record<CapoRole, string[]> = {
  capo_marketing: [
    'Draft the newsletter for our subscribers about the spring launch',
    'Write a blog post about our new office culture',
    'Plan a LinkedIn campaign for Q1',
    'Improve the open rate of the onboarding emails',
    'Prepare the webinar announcement and promote it on social media',
    'Write a press release about the new release',
    'Collect three testimonials for the landing page',
    'Have marketing write the announcement',
    'Ask marketing to record 80 EUR for the campaign',
  ],
  capo_revenue: [
    'Follow up with Acme about the proposal',
    'Record 1,200 EUR from Acme',
    'Log 80 USD from the flea market.',
    'Record 12 EUR from the market stall and email tom@oak.example',
    'We received 249.90 EUR from the newsletter campaign',
    'Verbuche 80 EUR vom Webinar',
    'Chase the overdue invoices',
    'Offer Ada a 10% discount on the annual plan',
    'Review the pipeline and forecast the quarter',
    'Renew the contract with Globex before Friday',
    'Email jo@acme.com a quote for 20 seats',
    'Which deals are stuck in negotiation?',
  ],
  capo_ops: [
    'Reschedule the delivery to Thursday and tell the courier',
    'Order new stock from the supplier',
    'Ask the warehouse for the tracking number of parcel 4711',
    'Set up the onboarding for the new customer',
    'Arrange a technician appointment on Monday',
    'Book a venue and a courier for 200 EUR',
    'Email bob@example.com that the meeting moved to 3pm',
    'Write a checklist for the office move',
    'email sales@example.com that I am late',
  ],
  capo_product: [
    'Prioritise the backlog for the next sprint',
    'Fix the login bug on mobile',
    'Write the release notes for version 2.4',
    'Add dark mode to the roadmap',
    'Collect user feedback on the beta',
    'Write acceptance criteria for the export feature',
    'Deploy the integration with the billing API',
  ],
  ceo: [
    'Brief me on where we stand this week',
    'Prepare the board update with our OKRs',
    'Have marketing write the announcement and ask ops to prepare the shipment',
    'What should our strategy be for next quarter?',
    'Give me the morning report',
    'Do the usual',
    'Hello',
    '',
  ],
};

describe('routing by vocabulary', () => {
  it.each(CAPO_ROLES.flatMap((capo) => DIRECTIVES[capo].map((text) => [capo, text] as const)))(
    'gives %s "%s"',
    (capo, text) => {
      expect(route(text).capo).toBe(capo);
    },
  );

  it('scores all five capos, best first, with the words that speak for each', () => {
    const { candidates, capo } = route('Email Acme the quote and announce the delivery date');
    expect(candidates.map((each) => each.capo).toSorted()).toEqual([...CAPO_ROLES].toSorted());
    expect(candidates[0]).toEqual({ capo, score: 0.57, why: ['quote', 'can send mail'] });
    expect(candidates.find((each) => each.capo === 'capo_ops')?.why).toContain('delivery');
    expect(candidates.find((each) => each.capo === 'capo_product')).toMatchObject({ score: 0, why: [] });
  });

  it('does not take a market for Marketing', () => {
    expect(route('The market is lovely').capo).toBe('ceo');
  });

  it.each([
    ['capo_ops', 'Call create_contact of crm with email = jane@acme.example.', {}],
    ['capo_revenue', 'Log 80 USD from the fair', { context: { team: 'marketing' } }],
    [
      'capo_revenue',
      'Email jane@acme.example: The new release fixes the bug.',
      { context: { team: 'product' } },
    ],
    ['capo_marketing', 'Email jane@acme.example, subject "News": Our campaign starts.', {}],
  ])('never gives a capo what it is not able to do: %s, %s', (capo, text, changes) => {
    expect(route(text, changes).capo).toBe(capo);
  });

  it('reads the longer term where a shorter one is part of it', () => {
    const { candidates } = route('Write a press release');
    expect(candidates.find(({ capo }) => capo === 'capo_product')?.score).toBe(0);
  });

  it.each([
    [
      'Write the release notes and mention the beta',
      'Product fits best: the directive mentions “release notes”, “beta”.',
    ],
    [
      'Offer Ada a discount on the annual plan',
      'Revenue fits best: the directive mentions “offer”, “discount”. The CEO capo came second (“annual plan”).',
    ],
    [
      'Do the usual',
      'Nothing in it points to a single domain, so it goes to the CEO capo, who can delegate it.',
    ],
    [
      'mail ada@example.com that I am late',
      'Nothing in it points to a single domain; it asks for a mail, and Ops sends mail.',
    ],
    [
      'Have sales call Acme and tell product to wait',
      'Work for Revenue and Product is named in one directive, so the CEO capo divides it.',
    ],
  ])('explains itself: %s', (text, reason) => {
    expect(route(text).reason).toBe(reason);
  });

  describe('a tie', () => {
    const text = 'The delivery and the invoice';

    it('goes to whom the operator named first', () => {
      expect(route(text)).toMatchObject({
        capo: 'capo_ops',
        reason: 'Ops and Revenue fit equally well (“delivery”; “invoice”). Ops is named first.',
      });
    });

    it('goes to money first when the priority is high', () => {
      expect(route(text, { priority: 'high' }).capo).toBe('capo_revenue');
    });
  });

  describe('the context', () => {
    it('settles it where a field names a capo', () => {
      const routed = route('Prepare something for Friday', { context: { team: 'the product team' } });
      expect(routed.capo).toBe('capo_product');
      expect(routed.reason).toContain('context: team is the product team');
    });

    it('only leans otherwise', () => {
      expect(route('Prepare a note', { context: { campaign: 'spring' } }).capo).toBe('capo_marketing');
      expect(route('Chase the invoice', { context: { campaign: 'spring' } }).capo).toBe('capo_revenue');
    });
  });

  describe('standing orders', () => {
    const order = (changes: Partial<StandingOrderBrief>): StandingOrderBrief => ({
      name: 'Gifts',
      text: 'Christmas gifts for partners are handled by ops',
      effect: 'require_approval',
      capos: ['capo_ops'],
      ...changes,
    });
    const text = 'Take care of the Christmas gifts';

    it('show whose work it is when they name a capo and speak of the same thing', () => {
      expect(route(text, { standingOrders: [order({})] })).toMatchObject({ capo: 'capo_ops' });
    });

    it.each([
      ['forbid it', order({ effect: 'deny' })],
      ['name everybody', order({ capos: [] })],
      ['speak of something else', order({ text: 'Mondays are quiet', name: 'Quiet' })],
    ])('say nothing when they %s', (_case, standingOrder) => {
      expect(route(text, { standingOrders: [standingOrder] }).capo).toBe('ceo');
    });
  });

  it('always answers, the same for the same, whatever it is given', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (text, context) => {
          const first = route(text, { context });
          expect(first).toEqual(route(text, { context }));
          expect(first.candidates).toHaveLength(5);
          expect(first.candidates[0]?.capo).toBe(first.capo);
          for (const { score } of first.candidates) expect(score >= 0 && score < 1).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});
