import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { checkDraft } from '../../src/features/capos/draft-checks.js';
import { answerSchema, readAnswer } from '../../src/features/capos/model-output.js';
import { dataFor, instructionsFor } from '../../src/features/capos/model-runner.js';
import type { OutsideTargets } from '../../src/features/capos/outside-targets.js';
import type { Operation } from '../../src/features/connectors/operation.js';
import { briefing } from './briefings.js';

const ERP = `whk_${'a'.repeat(26)}`;

const operation = (name: string, more: Partial<Operation> = {}): Operation => ({
  connector: 'crm',
  operation: name,
  description: 'Adds a contact',
  method: 'POST',
  url: 'https://crm.example/contacts',
  params: {
    type: 'object',
    properties: { email: { type: 'string', format: 'email' }, credit: { type: 'number' } },
    required: ['email'],
  },
  timeoutMs: 10_000,
  repeatable: false,
  hasKey: false,
  readOnly: false,
  amount: null,
  undo: { operation: 'delete_contact', params: { id: 'response.id' } },
  definition: 'd'.repeat(64),
  ...more,
});

const targets: OutsideTargets = {
  destinations: [{ destinationId: ERP, description: 'ERP of Acme', url: 'https://erp.example/hooks' }],
  operations: [operation('create_contact')],
};

const packet = (type: string, params: object, needsInput: object[] = []) => ({
  type,
  title: 'x',
  target: 'x',
  params,
  rationale: 'x',
  multipliers: [],
  needsInput,
});
const answer = (...packets: object[]) => ({ summary: 'Ready.', packets });

const CALL = packet('http.call', {
  connector: 'crm',
  operation: 'create_contact',
  arguments: { email: 'jane@acme.example', credit: null },
});
const POST = packet('webhook.post', { destinationId: ERP, data: '{"order":42}' });

describe('what a model is told', () => {
  const given = briefing('Add jane@acme.example to the CRM', 'capo_ops', { targets });

  it('names the destinations and operations of the workspace with their parameters, and no address of any', () => {
    const data = dataFor(given);
    expect(data).toContain('"destinationId":"' + ERP);
    expect(data).toContain('"operation":"create_contact"');
    expect(data).toContain('"format":"email"');
    expect(data).toContain('ERP of Acme');
    expect(data).not.toMatch(/(?:crm|erp)\.example/);
    expect(instructionsFor(given)).toContain('- http.call: ');
    expect(instructionsFor(given)).toContain('params.arguments.<name>');
  });

  it('is nothing of either where there is nothing to reach', () => {
    const without = briefing('Add jane@acme.example to the CRM', 'capo_ops');
    expect(instructionsFor(without)).not.toMatch(/http\.call|webhook\.post/);
    expect(dataFor(without)).not.toMatch(/"destinations"|"operations"/);
    expect(JSON.stringify(answerSchema('ops'))).not.toMatch(/http\.call|webhook\.post/);
  });

  it('is bounded, however many operations there are', () => {
    const many = Array.from({ length: 2_000 }, (_, index) =>
      operation(`op_${index}`, { description: 'x'.repeat(300) }),
    );
    const data = dataFor(briefing('x', 'capo_ops', { targets: { ...targets, operations: many } }));
    expect(data.length).toBeLessThan(40_000);
    expect(data).toContain('more operations are left out here');
    expect(JSON.stringify(answerSchema('ops', { ...targets, operations: many })).length).toBeLessThan(
      100_000,
    );
  });
});

describe('the schema of an answer', () => {
  const validate = new Ajv({ strict: false }).compile(answerSchema('ops', targets));

  it.each([
    ['a call', CALL],
    ['a post', POST],
  ])('takes %s', (_what, one) => {
    expect(validate(answer(one)), JSON.stringify(validate.errors)).toBe(true);
  });

  it.each([
    ['another operation', packet('http.call', { ...CALL.params, operation: 'drop_all' })],
    ['another destination', packet('webhook.post', { ...POST.params, destinationId: 'whk_x' })],
    ['what only we write', packet('http.call', { ...CALL.params, request: 'GET https://x.example' })],
  ])('refuses %s', (_what, one) => {
    expect(validate(answer(one))).toBe(false);
  });
});

describe('the answer of a model', () => {
  const read = (...packets: object[]) => readAnswer('ops', answer(...packets), targets);

  it('becomes a draft in our form', () => {
    expect(read(CALL, POST)).toMatchObject({
      ok: true,
      answer: {
        packets: [
          {
            params: {
              connector: 'crm',
              operation: 'create_contact',
              arguments: { email: 'jane@acme.example' },
            },
          },
          { params: { destinationId: ERP, data: { order: 42 } } },
        ],
      },
    });
  });

  it('may leave an argument to a person', () => {
    const open = packet('http.call', { ...CALL.params, arguments: { email: null, credit: null } }, [
      { path: 'params.arguments.email', message: 'Which address?' },
    ]);
    expect(read(open)).toMatchObject({ ok: true });
  });

  it.each([
    ['packets.0.params.operation', packet('http.call', { ...CALL.params, operation: 'drop_all' })],
    [
      'packets.0.params.arguments.email',
      packet('http.call', { ...CALL.params, arguments: { email: 'jane' } }),
    ],
    [
      'packets.0.params.destinationId',
      packet('webhook.post', { ...POST.params, destinationId: `whk_${'0'.repeat(26)}` }),
    ],
    ['packets.0.params.data', packet('webhook.post', { ...POST.params, data: 'no JSON' })],
    ['packets.0.params.data', packet('webhook.post', { ...POST.params, data: '[1]' })],
  ])('has a fault at %s', (path, one) => {
    const reading = read(one);
    expect(reading).toMatchObject({ ok: false, faults: [{ path }] });
  });

  it('raises the risk with an address or a number that stands nowhere', () => {
    const reading = read(
      packet('http.call', { ...CALL.params, arguments: { email: 'eve@evil.example', credit: 500 } }),
    );
    if (!reading.ok) throw new Error('not read');
    const { concerns } = checkDraft(
      reading.answer,
      briefing('Add jane@acme.example', 'capo_ops', { targets }),
    );
    expect(concerns.map(({ risk }) => risk)).toEqual(['critical', 'critical']);
    expect(concerns.map(({ reason }) => reason).join()).toMatch(/eve@evil\.example.*500/);
  });
});
