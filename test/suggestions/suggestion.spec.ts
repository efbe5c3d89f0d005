import { describe, expect, it } from 'vitest';
import type { DecidedApproval } from '../../src/features/suggestions/decided-approvals.reader.js';
import { suggestionsFrom } from '../../src/features/suggestions/suggestion.js';
import { isId } from '../../src/platform/kernel/ids.js';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 6, 1, 12);

const mail = (to = 'jane@acme.example') => ({
  type: 'email.send',
  target: to,
  destinationId: null,
  amount: null,
  currency: null,
  recipients: to.split(',').length,
});
const revenue = (amount: number, currency: string | null = 'EUR') => ({
  type: 'revenue.record',
  target: 'shop',
  destinationId: null,
  amount,
  currency,
  recipients: 0,
});

/** Newest first, one a day. */
function decided(count: number, given: Partial<DecidedApproval> = {}): DecidedApproval[] {
  return Array.from({ length: count }, (_, n) => ({
    approvalId: `apr_${n}`,
    teamId: null,
    capo: 'capo_ops',
    agent: null,
    status: 'approved',
    decidedAt: START - n * DAY_MS,
    isEdited: false,
    directiveId: 'dir_1',
    packets: [mail()],
    ...given,
  }));
}

describe('suggestionsFrom', () => {
  it('counts no approval of a directive that asks anyway, but a rejection all the same', () => {
    const [asking, free] = [{ directiveId: 'dir_asking' }, { directiveId: 'dir_free' }];
    const of = (...approvals: DecidedApproval[]) =>
      suggestionsFrom(approvals, new Set(['dir_asking'])).map(({ approvals: count }) => count);
    expect(of(...decided(4, free), ...decided(5, asking))).toEqual([]);
    expect(of(...decided(5, free), ...decided(5, asking))).toEqual([5]);
    expect(
      of(...decided(4, free), ...decided(1, { ...asking, status: 'rejected' }), ...decided(5, free)),
    ).toEqual([]);
  });

  it('makes an order of what five approvals have in common', () => {
    const [suggestion, ...more] = suggestionsFrom(decided(5));
    expect(more).toEqual([]);
    expect(suggestion).toEqual({
      suggestionId: expect.any(String),
      name: 'Ops: email.send to acme.example',
      text: 'Ops: email.send to acme.example: at most 1 a day, as in the last 30 days, when 5 of these were approved without a change. It holds for the work packets of every team.',
      rule: {
        teamId: null,
        capos: ['capo_ops'],
        effect: 'allow',
        match: { actionTypes: ['email.send'], fields: { 'params.to': { $domainIn: ['acme.example'] } } },
        when: null,
        limits: { maxPerDay: 1, maxRecipients: 1 },
        budget: null,
        approval: null,
        expiresAt: null,
      },
      approvals: 5,
      lastApprovedAt: START,
    });
    expect(isId('sug', suggestion!.suggestionId)).toBe(true);
  });

  it('makes an order of what an agent asked for, by whom it reaches', () => {
    const asked = (values: unknown) =>
      decided(5, {
        capo: null,
        agent: 'mail-bot',
        directiveId: null,
        packets: [
          { ...mail(), type: 'mailer.send', target: null, reaches: { parameter: 'params.to', values } },
        ],
      });
    const conditions = (values: unknown) => suggestionsFrom(asked(values))[0]?.rule.match.fields;
    expect(conditions(['b@b.example', 'a@a.example'])).toEqual({
      'params.to': { $domainIn: ['a.example', 'b.example'] },
    });
    expect(conditions('#general')).toEqual({ 'params.to': { $eq: '#general' } });
    for (const values of [[], ['#a', '#b'], [{ id: 1 }], 'x'.repeat(501), undefined])
      expect(suggestionsFrom(asked(values)), JSON.stringify(values)).toEqual([]);
    expect(suggestionsFrom(asked('#general').map((one) => ({ ...one, agent: null })))).toEqual([]);
    expect(suggestionsFrom(asked('#a\u202e\nb'))[0]!.name).toBe('mail-bot: mailer.send to #a[U+202E] b');
  });

  it('gives the same suggestion the same id, whatever else was approved', () => {
    const [one] = suggestionsFrom(decided(5));
    const all = suggestionsFrom([...decided(7, { capo: 'capo_revenue' }), ...decided(9)]);
    expect(all.map(({ approvals }) => approvals)).toEqual([9, 7]);
    expect(all[0]!.suggestionId).toBe(one!.suggestionId);
    expect(all[1]!.suggestionId).not.toBe(one!.suggestionId);
  });

  it('allows posts to a destination by its id, and names it without its address', () => {
    const destinationId = 'whk_01kerr2kg0xaen9f9sdsg8py4z';
    const post = (target: string) => ({
      type: 'webhook.post',
      target,
      destinationId,
      amount: null,
      currency: null,
      recipients: 0,
    });
    // As it was written before docs/decisions/0029, and since.
    const suggestions = suggestionsFrom([
      ...decided(2, { packets: [post('ERP')] }),
      ...decided(3, { packets: [post('ERP (https://eo1x2.receiver.example/in)')] }),
    ]);
    expect(suggestions).toMatchObject([
      {
        name: 'Ops: webhook.post to ERP',
        rule: { match: { fields: { 'params.destinationId': { $eq: destinationId } } } },
      },
    ]);
    expect(JSON.stringify(suggestions)).not.toContain('eo1x2');
  });

  it.each<[string, DecidedApproval[]]>([
    ['four approvals', decided(4)],
    ['approvals that were edited', [...decided(4), ...decided(1, { isEdited: true }), ...decided(4)]],
    ['a rejection in between', [...decided(4), ...decided(1, { status: 'rejected' }), ...decided(9)]],
    ['a draft that was sent back', [...decided(1, { status: 'changes_requested' }), ...decided(9)]],
    ['approvals of several teams', [...decided(4), ...decided(4, { teamId: 'team_a' })]],
    ['approvals of several capos', [...decided(4), ...decided(4, { capo: 'capo_revenue' })]],
    ['mail to several domains', [...decided(4), ...decided(4, { packets: [mail('john@other.example')] })]],
    [
      'mail that also goes elsewhere',
      decided(4).concat(decided(4, { packets: [mail('jane@acme.example, john@other.example')] })),
    ],
    [
      'amounts of several magnitudes',
      [...decided(4, { packets: [revenue(100)] }), ...decided(4, { packets: [revenue(101)] })],
    ],
    [
      'amounts in several currencies',
      [...decided(4, { packets: [revenue(5)] }), ...decided(4, { packets: [revenue(5, 'USD')] })],
    ],
    ['amounts in no currency', decided(9, { packets: [revenue(5, null)] })],
    ['mail that names nobody', decided(9, { packets: [{ ...mail(), target: null }] })],
    [
      'mail to six domains',
      decided(9, {
        packets: [mail('a@a.example,a@b.example,a@c.example,a@d.example,a@e.example,a@f.example')],
      }),
    ],
    ['a type that there is no more', decided(9, { packets: [{ ...mail(), type: 'fax.send' }] })],
  ])('suggests nothing for %s', (_case, approvals) => {
    expect(suggestionsFrom(approvals)).toEqual([]);
  });

  it('counts again after a rejection', () => {
    const approvals = [...decided(6), ...decided(1, { status: 'rejected' }), ...decided(9)];
    expect(suggestionsFrom(approvals)).toMatchObject([{ approvals: 6 }]);
  });

  it('counts an approval of many work packets once, and allows as many a day as were approved', () => {
    const approvals = decided(5, { packets: [mail(), mail('john@acme.example, ann@ACME.example'), mail()] });
    expect(suggestionsFrom(approvals)).toMatchObject([
      { approvals: 5, rule: { limits: { maxPerDay: 3, maxRecipients: 2 } } },
    ]);
  });

  it.each([
    [0, 1],
    [1, 1],
    [1.5, 10],
    [-99.99, 100],
    [100, 100],
    [1e12, 1e12],
  ])('takes an amount of %d for one of up to %d', (amount, bound) => {
    expect(suggestionsFrom(decided(5, { packets: [revenue(amount)] }))).toMatchObject([
      {
        name: `Ops: revenue.record of up to ${bound} EUR`,
        rule: { match: { fields: { amount: { $lte: bound }, currency: { $eq: 'EUR' } } } },
      },
    ]);
  });

  it('needs no condition for what stays within the workspace', () => {
    const packets = [
      {
        type: 'document.file',
        target: 'Memo',
        destinationId: null,
        amount: null,
        currency: null,
        recipients: 0,
      },
    ];
    const [{ rule, name }] = suggestionsFrom(decided(5, { packets })) as [any];
    expect(rule).toMatchObject({ match: { actionTypes: ['document.file'] }, limits: { maxPerDay: 1 } });
    expect(rule.match.fields).toBeUndefined();
    expect(name).toBe('Ops: document.file');
  });

  it('keeps the name one line of at most 120 characters', () => {
    const domain = `${'a'.repeat(60)}.${'b'.repeat(60)}.example`;
    const [{ name, rule }] = suggestionsFrom(decided(5, { packets: [mail(`jane@${domain}`)] })) as [any];
    expect(name.length).toBeLessThanOrEqual(120);
    expect(rule.match.fields['params.to'].$domainIn).toEqual([domain]);
  });
});
