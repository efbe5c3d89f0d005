import { describe, expect, it } from 'vitest';
import { ACTION_TYPE_NAMES } from '../../src/features/capos/action-types.js';
import {
  isReservedToolName,
  isToolName,
  isToolPattern,
  namesAction,
  RESERVED_SEGMENTS,
} from '../../src/features/terms/tool-names.js';
import { factsOf, type ToolFacts } from '../../src/features/tools/index.js';
import { contentOf, faultsOfContent, fingerprintOf } from '../../src/features/tools/tool.js';

describe('the name of a tool', () => {
  it.each([
    'refund',
    'github.repos/merge',
    'mcp.Files_2.read-file',
    `a.${'x'.repeat(128)}`,
    'a.b.c.d.e.f.g.h',
  ])('may be %s', (name) => expect(isToolName(name)).toBe(true));

  it.each([
    '',
    '*',
    'github.*',
    'Refund',
    '1refund',
    'refund.',
    'refund..now',
    'ref und',
    'rеfund', // a Cyrillic е
    'refund\n',
    `a.${'x'.repeat(129)}`,
    'a.b.c.d.e.f.g.h.i',
    `a.${'x'.repeat(128)}.${'y'.repeat(128)}`,
  ])('may not be %j', (name) => expect(isToolName(name)).toBe(false));

  it('begins with no segment of our own action types', () => {
    expect(new Set(ACTION_TYPE_NAMES.map((type) => type.split('.')[0]))).toEqual(RESERVED_SEGMENTS);
    expect(['email.send', 'email', 'http.x/y'].map(isReservedToolName)).toEqual([true, true, true]);
    expect(['emails.send', 'mail.email'].map(isReservedToolName)).toEqual([false, false]);
    expect(isToolPattern('email.*')).toBe(false);
  });

  it.each([
    ['github.*', 'github.repos.merge', true],
    ['github.*', 'github.x', true],
    ['github.*', 'github', false],
    ['github.*', 'githubx.merge', false],
    ['github.repos.*', 'github.repos/x.merge', false],
    ['github.merge', 'github.merge', true],
    ['github.merge', 'github.Merge', false],
    ['github.merge', 'github.merge.now', false],
    ['*', 'github', false],
    ['git*', 'github', false],
  ])('the pattern %s and the name %s: %s', (pattern, name, matches) =>
    expect(namesAction(pattern, name)).toBe(matches),
  );

  it('is a pattern itself', () =>
    expect(['a.b', 'a.*', '*', '.*', 'a.*.*'].map(isToolPattern)).toEqual([true, true, false, false, false]));
});

const SCHEMA = { type: 'object', properties: { amount: {}, currency: {}, to: {}, items: {} } };
const toolWith = (given: object = {}, status: 'active' | 'proposed' = 'active') => ({
  ...contentOf('pay.refund', {
    paramsSchema: SCHEMA,
    amountPath: 'amount',
    currencyPath: 'currency',
    recipientsPath: 'to',
    reversibility: 'reversible',
    risk: 'low',
    ...given,
  }),
  status,
});

describe('the facts of a request', () => {
  it.each([
    ['major', { amount: 12.5, currency: 'EUR' }, 12.5, 'EUR', true],
    ['minor', { amount: 1999, currency: 'EUR' }, 19.99, 'EUR', true],
    ['minor', { amount: 1999, currency: 'usd' }, 19.99, 'USD', true],
    ['minor', { amount: 1999, currency: 'JPY' }, 1999, 'JPY', true],
    ['minor', { amount: 1999, currency: 'KWD' }, 1.999, 'KWD', true],
    ['minor', { amount: 19.5, currency: 'EUR' }, null, 'EUR', false],
    ['minor', { amount: 1999 }, null, null, false],
    ['major', { amount: 12 }, 12, null, false],
    ['major', { amount: '12', currency: 'EUR' }, null, 'EUR', false],
    ['major', { amount: -12, currency: 'EUR' }, null, 'EUR', false],
    ['major', { amount: 12, currency: 'euros' }, 12, null, false],
    ['major', { amount: 12, currency: 'Eur' }, 12, null, false],
    ['major', { amount: [12], currency: ['EUR'] }, null, null, false],
    ['major', {}, null, null, false],
  ] as const)('%s units of %j: %s %s', (amountUnit, params, amount, currency, amountIsKnown) =>
    expect(factsOf(toolWith({ amountUnit }), params)).toMatchObject({ amount, currency, amountIsKnown }),
  );

  it.each([
    [{ to: 'jane@acme.example' }, 1, true],
    [{ to: ['jane@acme.example', 'joe@acme.example'] }, 2, true],
    [{ to: [{ email: 'jane@acme.example' }] }, 1, true],
    [{ to: [] }, 0, false],
    [{ to: '' }, 0, false],
    [{ to: 'jane@acme.example, joe@acme.example' }, 0, false],
    [{ to: ['jane@acme.example;joe@acme.example'] }, 0, false],
    [{ to: [['jane@acme.example']] }, 0, false],
    [{ to: 7 }, 0, false],
    [{}, 0, false],
  ])('reaches by %j: %s, which is known: %s', (params, recipients, recipientsAreKnown) =>
    expect(factsOf(toolWith(), params)).toMatchObject({ recipients, recipientsAreKnown }),
  );

  it('reads own properties at any depth', () => {
    const tool = toolWith({ amountPath: 'items.0.price' });
    expect(factsOf(tool, { items: [{ price: 3 }], currency: 'EUR' }).amount).toBe(3);
    expect(
      factsOf(toolWith({ amountPath: 'items.length' }), { items: [1], currency: 'EUR' }).amount,
    ).toBeNull();
  });

  it.each([
    ['no tool', undefined, 'pay.refund'],
    ['a proposed one', toolWith({ titleTemplate: 'Read a harmless file' }, 'proposed'), undefined],
  ])('are the worst for %s', (_case, tool, name) =>
    expect(factsOf(tool, { amount: 1, currency: 'EUR', to: 'jane' }, name)).toEqual({
      amount: null,
      currency: null,
      recipients: 0,
      amountIsKnown: false,
      recipientsAreKnown: false,
      reversibility: 'irreversible',
      risk: 'high',
      title: 'pay.refund',
    } satisfies ToolFacts),
  );

  it.each([
    ['minor', { amount: 6000, currency: 'EUR' }, 'Refund 60.00 EUR'],
    ['minor', { amount: 1_234_567, currency: 'KWD' }, 'Refund 1,234.567 KWD'],
    ['minor', { amount: 6000, currency: 'JPY' }, 'Refund 6,000 JPY'],
    ['minor', { amount: 6000 }, 'Refund 6000 (smallest unit) –'],
    ['minor', { amount: '6000', currency: 'EUR' }, 'Refund 6000 (smallest unit) EUR'],
    ['major', { amount: 6000, currency: 'EUR' }, 'Refund 6000 EUR'],
  ] as const)('show the amount in %s units of %j as a person reads it', (amountUnit, params, title) =>
    expect(
      factsOf(toolWith({ amountUnit, titleTemplate: 'Refund {{amount}} {{currency}}' }), params).title,
    ).toBe(title),
  );

  it.each([
    [
      'Refund {{amount}} to {{ to.email }}',
      { amount: 5, to: { email: 'j@acme.example' } },
      'Refund 5 to j@acme.example',
    ],
    ['To {{to}}', { to: ['a', 'b', { c: 1 }] }, 'To a, b, …'],
    ['To {{to}}', { to: { a: 1 } }, 'To …'],
    ['To {{to}}', {}, 'To –'],
    ['To {{to}}', { to: '{{amount}}', amount: 1 }, 'To {{amount}}'],
    ['To {{to}}', { to: 'jane@acme.example\u202e' }, 'To jane@acme.example[U+202E]'],
    ['To {{to}}', { to: 'a\u202eb\u200b\nBcc:\u2028c' }, 'To “a[U+202E]b[U+200B] Bcc: c”'],
    ['To {{to}}', { to: 'x'.repeat(81) }, `To “${'x'.repeat(79)}…”`],
  ])('have the title of %s over %j', (titleTemplate, params, title) =>
    expect(factsOf(toolWith({ titleTemplate }), params).title).toBe(title),
  );

  it.each([
    [{ currency: '1 EUR to ok@acme.example', customer: 'x' }, 'Refund 99 “1 EUR to ok@acme.example” to x'],
    [{ currency: 'EUR', customer: 'Jane\u00a0Doe' }, 'Refund 99 EUR to “Jane Doe”'],
    [{ currency: 'EUR', customer: 'x” to “y z' }, "Refund 99 EUR to “x' to 'y z”"],
    [{ currency: 'EUR', customer: '“x”' }, "Refund 99 EUR to “'x'”"],
    [{ currency: '', customer: ['a', 'b, c'] }, 'Refund 99 “” to a, “b, c”'],
    [
      { currency: 'E\u00adUR\u2800', customer: 'a'.repeat(41) },
      `Refund 99 E[U+00AD]UR[U+2800] to “${'a'.repeat(41)}”`,
    ],
  ])('have a title in which is seen where each value begins and ends: %j', (params, title) => {
    const tool = toolWith({ titleTemplate: 'Refund {{amount}} {{currency}} to {{customer}}' });
    expect(factsOf(tool, { amount: 99, ...params }).title).toBe(title);
  });

  it('have the name as title without a template', () =>
    expect(factsOf(toolWith(), {}).title).toBe('pay.refund'));
});

describe('the content of a tool', () => {
  const faultsOf = (given: object) =>
    faultsOfContent(toolWith(given)).map(({ path, rule }) => `${path}: ${rule}`);

  it.each([
    [{ titleTemplate: 'To {{nobody}}' }, ['titleTemplate: unknownParameter']],
    [{ titleTemplate: 'To {{to.email}} {{to.0}}' }, []],
    [{ titleTemplate: 'To {{}}' }, ['titleTemplate: path']],
    [{ titleTemplate: 'To {to}' }, ['titleTemplate: template']],
    [{ amountPath: 'price' }, ['amountPath: unknownParameter']],
    [{ amountPath: 'price', paramsSchema: { type: 'object' }, currencyPath: null, recipientsPath: null }, []],
    [{ title: 'Read\u200b a file' }, ['title: unseen']],
    [{ paramsSchema: { ...SCHEMA, description: 'Safe.\u{e0041}' } }, ['paramsSchema: unseen']],
  ])('%j has the faults %j', (given, faults) => expect(faultsOf(given)).toEqual(faults));

  it('has one fingerprint, whatever the order of its keys, and another for each change', () => {
    const content = contentOf('pay.refund', { paramsSchema: { type: 'object', title: 'Refund' } });
    const same = contentOf('pay.refund', { paramsSchema: { title: 'Refund', type: 'object' }, risk: null });
    expect(fingerprintOf(same)).toBe(fingerprintOf(content));
    const prints = Object.keys(content).map((key) => fingerprintOf({ ...content, [key]: 'other' }));
    expect(new Set([...prints, fingerprintOf(content)]).size).toBe(15);
  });
});
