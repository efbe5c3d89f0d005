import { describe, expect, it } from 'vitest';
import { draftFrom } from '../../src/features/capos/builtin/draft.js';
import { validateAction } from '../../src/features/capos/action-types.js';
import { engineOf } from '../../src/features/capos/capo.js';
import type { OutsideTargets } from '../../src/features/capos/outside-targets.js';
import { briefing } from './briefings.js';

const ERP = `whk_${'a'.repeat(26)}`;
const SHOP = `whk_${'b'.repeat(26)}`;

const targets: OutsideTargets = {
  destinations: [
    { destinationId: ERP, description: 'ERP of Acme', url: 'https://erp.acme.example/hooks' },
    { destinationId: SHOP, description: 'Shop', url: 'https://shop.example/hooks' },
  ],
  operations: [
    {
      connector: 'crm',
      operation: 'create_contact',
      description: 'Adds a contact',
      method: 'POST',
      url: 'https://crm.example/contacts',
      params: {
        type: 'object',
        properties: {
          email: { type: 'string', format: 'email', description: 'The mail address' },
          name: { type: 'string' },
          credit: { type: 'number' },
          vip: { type: 'boolean' },
        },
        required: ['email'],
      },
      timeoutMs: 10_000,
      repeatable: false,
      hasKey: false,
      readOnly: false,
      amount: null,
      undo: { operation: 'delete_contact', params: { id: 'response.id' } },
      definition: 'd'.repeat(64),
    },
  ],
};

function draft(
  text: string,
  { capo = 'capo_ops' as const, context = null as Record<string, unknown> | null } = {},
) {
  return draftFrom(briefing(text, capo, { targets, directive: { context } }));
}

/** The one packet, which the registry takes as it is. */
function packetOf(text: string, options?: Parameters<typeof draft>[1]) {
  const { packets } = draft(text, options);
  expect(packets).toHaveLength(1);
  const { type, params, needsInput } = packets[0]!;
  const lacking = needsInput.map(({ path }) => path);
  expect(validateAction(engineOf('capo_ops'), type, params, { lacking, targets })).toMatchObject({
    ok: true,
  });
  return { type, params, lacking };
}

describe('a post to a webhook', () => {
  it.each([
    ['Post “The delivery is late.” to the webhook ERP of Acme.', { text: 'The delivery is late.' }],
    ['Please post to the webhook erp of acme: The delivery is late.', { text: 'The delivery is late.' }],
    ['Post {"order": 42, "late": true} to the webhook ERP', { order: 42, late: true }],
    ['Poste „Die Lieferung ist spät.“ an den Webhook ERP of Acme', { text: 'Die Lieferung ist spät.' }],
    [`Post "Late" to webhook ${ERP}`, { text: 'Late' }],
  ])('%s', (text, data) => {
    expect(packetOf(text)).toEqual({
      type: 'webhook.post',
      params: { destinationId: ERP, data },
      lacking: [],
    });
  });

  it('takes the context where the directive says so', () => {
    const text = 'Post the context to the webhook Shop';
    expect(packetOf(text, { context: { order: 42 } }).params).toEqual({
      destinationId: SHOP,
      data: { order: 42 },
    });
    expect(packetOf(text).lacking).toEqual(['params.data']);
  });

  it.each([
    ['which webhook it is', 'Post “Late” to the webhook', ['params.destinationId']],
    ['for one that is not there', 'Post “Late” to the webhook Warehouse', ['params.destinationId']],
    ['what it is to say', 'Post the new prices to the webhook Shop', ['params.data']],
  ])('asks %s', (_what, text, lacking) => {
    expect(packetOf(text).lacking).toEqual(lacking);
  });

  it('says that there is no destination', () => {
    const { packets, remarks } = draftFrom(briefing('Post “Late” to the webhook Shop', 'capo_ops'));
    expect(packets).toEqual([]);
    expect(remarks).toContain('no destination is registered here');
  });
});

describe('a call of an operation', () => {
  it.each<[string, Record<string, unknown>]>([
    ['Call create_contact of crm with email = jane@acme.example.', { email: 'jane@acme.example' }],
    [
      'Call create contact of the connector crm with email: jane@acme.example, name: “Doe, Jane”, credit = 12.50 and vip = yes',
      { email: 'jane@acme.example', name: 'Doe, Jane', credit: 12.5, vip: true },
    ],
    ['Run create_contact of crm with {"email": "jane@acme.example"}', { email: 'jane@acme.example' }],
    ['Call create_contact of crm with jane@acme.example', { email: 'jane@acme.example' }],
  ])('%s', (text, given) => {
    expect(packetOf(text)).toEqual({
      type: 'http.call',
      params: { connector: 'crm', operation: 'create_contact', arguments: given },
      lacking: [],
    });
  });

  it.each([
    ['for what is required', 'Call create_contact of crm', ['params.arguments.email']],
    [
      'about a value that does not fit',
      'Call create_contact of crm with email = jane, credit = much',
      ['params.arguments.email', 'params.arguments.credit'],
    ],
    [
      'about what it does not understand',
      'Call create_contact of crm with email = jane@acme.example, unless she is there already',
      ['params.arguments'],
    ],
    [
      'about a parameter that is none',
      'Call create_contact of crm with email = jane@acme.example, phone = 12',
      ['params.arguments'],
    ],
  ])('asks %s', (_what, text, lacking) => {
    expect(packetOf(text).lacking).toEqual(lacking);
  });

  it('names the operations where there is no such one', () => {
    const { packets, remarks } = draft('Call the operation drop_all of crm');
    expect(packets).toEqual([]);
    expect(remarks).toContain('create_contact of crm');
  });

  it('leaves a sentence about a person alone', () => {
    const { packets } = draft('Call Jane of Acme with the news');
    expect(packets.map(({ type }) => type)).not.toContain('http.call');
  });
});
