import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Order, ruleOf } from '../../../clients/dashboard/src/orders/order.js';
import { ruleIn } from '../../../clients/dashboard/src/orders/rule-words.js';

interface Schema {
  $ref?: string;
  allOf?: Schema[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  type?: string | string[];
  enum?: unknown[];
  items?: Schema;
  example?: unknown;
}

/** Words of its author, and what only the creation asks for: they decide nothing. */
const NO_RULE = ['name', 'text', 'draft'];
const OPERANDS = {
  $eq: 'a value',
  $ne: 'another',
  $lt: 11,
  $lte: 12,
  $gt: 1,
  $gte: 2,
  $in: ['one', 'two'],
  $nin: ['three'],
  $exists: true,
  $prefix: 'begin',
  $suffix: 'end',
  $domainIn: ['evil.example'],
};

describe('the words of a rule', () => {
  let schemas: Record<string, Schema>;
  beforeAll(async () => {
    const file = join(import.meta.dirname, '../../../docs/reference/openapi.json');
    ({ schemas } = (
      JSON.parse(await readFile(file, 'utf8')) as { components: { schemas: typeof schemas } }
    ).components);
  });

  const resolved = (schema: Schema): Schema => {
    const inner = schema.$ref
      ? schemas[schema.$ref.split('/').at(-1)!]!
      : (schema.allOf ?? schema.anyOf)?.[0];
    return inner ? resolved(inner) : schema;
  };
  /** Every field of the schema with a value, by path. */
  const leaves = (schema: Schema, path: string[] = []): [string[], unknown][] =>
    Object.entries(resolved(schema).properties ?? {}).flatMap(([name, field]): [string[], unknown][] => {
      const at = [...path, name];
      if (at.length === 1 && NO_RULE.includes(name)) return [];
      if (at.join('.') === 'match.fields')
        return Object.entries(OPERANDS).map(([operator, operand]) => [
          [...at, 'params.to', operator],
          operand,
        ]);
      const { properties, example, enum: values } = resolved(field);
      if (properties) return leaves(field, at);
      return [[at, field.example ?? example ?? values?.[0]]];
    });
  const orderOf = (all: [string[], unknown][]) => {
    const order: Record<string, unknown> = {};
    for (const [path, value] of all) {
      const owner = path
        .slice(0, -1)
        .reduce((part, name) => (part[name] ??= {}) as Record<string, unknown>, order);
      owner[path.at(-1)!] = value;
    }
    return order;
  };
  const wordsOf = (order: object, names = {}) =>
    ruleIn(order, names)
      .map(({ name, words }) => `${name}: ${words}`)
      .join('\n');

  it('leave out no field of the schema', () => {
    const all = leaves({ $ref: '#/CreateStandingOrderBody' });
    expect(all.length).toBeGreaterThan(35);
    const whole = wordsOf(orderOf(all));
    expect(whole).not.toContain('undefined');
    const stored = {
      ...orderOf(all),
      name: 'All of it',
      text: 'Its author’s words',
      status: 'draft',
      version: 1,
    };
    expect(wordsOf(ruleOf(stored as unknown as Order))).toBe(whole);
    // A field without words of its own would stand there as JSON under its name.
    for (const [path, value] of all) {
      const json = JSON.stringify(value);
      for (const between of [' ', ': '])
        expect(whole, path.join('.')).not.toContain(path.at(-1)! + between + json);
    }
    for (const left of all) {
      const others = all.filter((one) => one !== left);
      expect(wordsOf(orderOf(others)), left[0].join('.')).not.toBe(whole);
    }
  });

  it('tell two rules apart, whatever their authors wrote about them', () => {
    const order = (domain: string, maxPerDay: number) => ({
      name: 'Mail to Acme',
      text: 'Mail to acme.example may leave by itself, five a day at most.',
      effect: 'allow' as const,
      match: { actionTypes: ['email.send'], fields: { 'params.to': { $domainIn: [domain] } } },
      limits: { maxPerDay },
    });
    expect(wordsOf(order('evil.example', 500))).toBe(
      [
        'What it does: let it go by itself',
        'For: the whole workspace',
        'Capos: all',
        'Agents: all: also programs from outside that ask for it',
        'Actions and tools: only email.send',
        'params.to: only where it is at evil.example',
        'With several recipients or other values: each has to meet the condition',
        'When: always',
        'Limits: at most 500 a day; what goes beyond asks a person',
        'Budget: none: any amount may be spent',
        'Ends: never',
      ].join('\n'),
    );
  });

  it('say how wide an order is that says nothing', () => {
    const words = wordsOf({ effect: 'allow', match: {} });
    expect(words).toContain('Agents: none, since it names no tool');
    expect(words).toContain('Actions and tools: every action of a capo, no tool of an agent');
    expect(words).toContain('Conditions: none: any recipient, any amount, any content');
    expect(words).toContain('Limits: none');
  });

  it('say that an operator does not exist, before the order is kept', () => {
    const fields = { 'params.subject': { $prefix: 'Your order ', $later: 'shipped' } };
    const [fault] = ruleIn({ effect: 'allow', match: { fields } }).flatMap((line) => line.fault ?? []);
    expect(fault).toMatch(/^There is no operator \$later: an order with it cannot be kept\. There are \$eq /);
    expect(ruleIn({ match: { fields: { target: OPERANDS } } }).flatMap((line) => line.fault ?? [])).toEqual(
      [],
    );
  });

  it('show what they do not know, as an unchecked file may hold anything', () => {
    const odd = {
      effect: 'let all go',
      match: { fields: 7, wide: [1] },
      when: 'now',
      limits: null,
      more: { a: 1 },
    };
    const words = wordsOf(odd);
    for (const shown of ['let all go', '7', '[1]', '"now"', '{"a":1}']) expect(words).toContain(shown);
    expect(wordsOf({ effect: 'allow', teamId: 'team_1' }, { team_1: 'North' })).toContain('the team North');
  });
});
