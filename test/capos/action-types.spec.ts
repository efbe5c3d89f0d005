import { describe, expect, it } from 'vitest';
import { bodyOf, documentFrom, summaryOf, titleOf } from '../../src/features/capos/draft-output.js';
import {
  ACTION_TYPE_NAMES,
  ACTION_TYPES,
  actionTypesOf,
  compensationOf,
  highestReversibility,
  leverageOf,
  riskOf,
  validateAction,
  type Action,
} from '../../src/features/capos/action-types.js';

const mail = { to: ['ada@example.com'], subject: 'Hello', body: 'Hello Ada' };
const faults = (engine: Parameters<typeof validateAction>[0], type: string, params: unknown) => {
  const checked = validateAction(engine, type, params);
  return checked.ok ? [] : checked.faults.map(({ path, rule }) => `${path} ${rule}`);
};

describe('the registry of action types', () => {
  it("is the contract's table", () => {
    const table = ACTION_TYPE_NAMES.map((type) => {
      const { engines, kind, reversibility } = ACTION_TYPES[type];
      return `${type} | ${engines.length === 5 ? 'all' : engines.join(' ')} | ${kind} | ${reversibility}`;
    });
    expect(table).toEqual([
      'document.file | all | document | reversible',
      'signal.raise | all | signal | reversible',
      'email.send | marketing revenue ops | message | irreversible',
      'webhook.post | revenue ops product | message | irreversible',
      'http.call | ops product | call | externally_reversible',
      'revenue.record | revenue | record | reversible',
      'directive.create | executive | delegation | reversible',
      'standing_order.propose | executive | proposal | reversible',
    ]);
  });

  it('names every class that a work packet of a type may have, of which the strictest is that of the type', () => {
    for (const type of ACTION_TYPE_NAMES) {
      const { classes, reversibility } = ACTION_TYPES[type];
      expect(highestReversibility(classes), type).toBe(reversibility);
    }
    expect(ACTION_TYPES['http.call'].classes).toEqual(['externally_reversible', 'read_only']);
    expect(ACTION_TYPES['email.send'].classes).toEqual(['irreversible']);
  });

  it('gives each engine its own types', () => {
    expect(actionTypesOf('product')).toEqual(['document.file', 'signal.raise', 'webhook.post', 'http.call']);
    expect(actionTypesOf('executive')).toEqual([
      'document.file',
      'signal.raise',
      'directive.create',
      'standing_order.propose',
    ]);
  });

  it.each<[Action, Record<string, unknown>, unknown]>([
    [
      { type: 'document.file', params: { title: 'A', body: 'B' } },
      { documentId: 'doc_1' },
      { type: 'document.withdraw', params: { documentId: 'doc_1' } },
    ],
    [
      { type: 'signal.raise', params: { type: 'agent', severity: 'info', title: 'A', body: 'B' } },
      { signalId: 'sig_1' },
      { type: 'signal.withdraw', params: { signalId: 'sig_1' } },
    ],
    [{ type: 'email.send', params: mail }, { messageId: 'm' }, null],
    [
      { type: 'revenue.record', params: { amount: 1, currency: 'EUR', source: 'Acme' } },
      { eventId: 'rev_1' },
      { type: 'revenue.reverse', params: { eventId: 'rev_1' } },
    ],
    [{ type: 'webhook.post', params: { destinationId: 'whk_1', data: {} } }, { status: 200 }, null],
    [
      { type: 'http.call', params: { connector: 'crm', operation: 'add', arguments: {} } },
      { status: 201, undo: { connector: 'crm', operation: 'remove', arguments: { id: 'c_1' } } },
      { type: 'http.undo', params: { connector: 'crm', operation: 'remove', arguments: { id: 'c_1' } } },
    ],
    [
      { type: 'directive.create', params: { directive: 'Do it', capo: 'capo_ops' } },
      { directiveId: 'dir_1' },
      { type: 'directive.cancel', params: { directiveId: 'dir_1' } },
    ],
    [
      { type: 'standing_order.propose', params: { name: 'No mail', effect: 'deny', match: {} } },
      { standingOrderId: 'so_1' },
      { type: 'standing_order.archive', params: { standingOrderId: 'so_1' } },
    ],
  ])('knows the undo of $type', (action, result, undo) => {
    expect(compensationOf(action, result)).toEqual(undo);
  });

  it('names the undo of a packet that has not been executed yet', () => {
    expect(compensationOf({ type: 'document.file', params: { title: 'A', body: 'B' } })).toEqual({
      type: 'document.withdraw',
      params: {},
    });
  });
});

describe('validateAction', () => {
  it('answers the typed action', () => {
    expect(validateAction('ops', 'email.send', mail)).toEqual({
      ok: true,
      action: { type: 'email.send', params: mail },
      reversibility: 'irreversible',
      compensation: null,
    });
  });

  it.each([
    ['a type outside the scope', 'product', 'email.send', mail, ['type scope']],
    ['a type nobody knows', 'ops', 'shell.run', {}, ['type known']],
    ['a type that every object has', 'ops', 'constructor', {}, ['type known']],
    ['no params', 'ops', 'email.send', undefined, ['params invalid_type']],
    [
      'unknown params, each by name',
      'ops',
      'email.send',
      { ...mail, bcc: [], from: 'x' },
      ['params.bcc unknown', 'params.from unknown'],
    ],
    [
      'a name in front of the address',
      'ops',
      'email.send',
      { ...mail, to: ['Ada <ada@example.com>'] },
      ['params.to.0 invalid_format'],
    ],
    ['nobody to send it to', 'ops', 'email.send', { ...mail, to: [] }, ['params.to too_small']],
    [
      'the same address twice',
      'ops',
      'email.send',
      { ...mail, to: ['a@x.com', 'A@X.com'] },
      ['params.to custom'],
    ],
    [
      'more recipients than a mail may have',
      'ops',
      'email.send',
      { ...mail, to: Array.from({ length: 101 }, (_, at) => `a${at}@x.com`) },
      ['params.to too_big'],
    ],
    [
      'CR LF in the subject',
      'ops',
      'email.send',
      { ...mail, subject: 'Hi\r\nBcc: eve@x.com' },
      ['params.subject custom'],
    ],
    [
      'a line separator in the subject',
      'ops',
      'email.send',
      { ...mail, subject: 'Hi\u2028there' },
      ['params.subject custom'],
    ],
    [
      'CR LF in an address',
      'ops',
      'email.send',
      { ...mail, to: ['ada@example.com\r\nBcc: eve@x.com'] },
      ['params.to.0 invalid_format'],
    ],
    ['NUL in the body', 'ops', 'email.send', { ...mail, body: 'a\u0000b' }, ['params.body custom']],
    ['half a character', 'ops', 'document.file', { title: '\ud800', body: 'x' }, ['params.title custom']],
    ['an empty body', 'ops', 'document.file', { title: 'A', body: ' \n' }, ['params.body custom']],
    [
      'a body without end',
      'ops',
      'document.file',
      { title: 'A', body: 'x'.repeat(100_001) },
      ['params.body too_big'],
    ],
    [
      'a currency that does not exist',
      'revenue',
      'revenue.record',
      { amount: 1, currency: 'XQQ', source: 'A' },
      ['params.currency custom'],
    ],
    [
      'a currency in lower case',
      'revenue',
      'revenue.record',
      { amount: 1, currency: 'eur', source: 'A' },
      ['params.currency invalid_format', 'params.currency custom'],
    ],
    [
      'no money',
      'revenue',
      'revenue.record',
      { amount: 0, currency: 'EUR', source: 'A' },
      ['params.amount too_small'],
    ],
    [
      'money without end',
      'revenue',
      'revenue.record',
      { amount: 1e13, currency: 'EUR', source: 'A' },
      ['params.amount too_big'],
    ],
    [
      'a fraction nobody pays',
      'revenue',
      'revenue.record',
      { amount: 0.00001, currency: 'EUR', source: 'A' },
      ['params.amount custom'],
    ],
    [
      'infinity',
      'revenue',
      'revenue.record',
      { amount: Infinity, currency: 'EUR', source: 'A' },
      ['params.amount invalid_type'],
    ],
    [
      'work handed to itself',
      'executive',
      'directive.create',
      { directive: 'Do it', capo: 'ceo' },
      ['params.capo invalid_value'],
    ],
    [
      'several faults, all at once',
      'ops',
      'signal.raise',
      { type: 'x', severity: 'loud', title: '', body: 'b', score: 2 },
      [
        'params.type invalid_value',
        'params.severity invalid_value',
        'params.title custom',
        'params.score too_big',
      ],
    ],
  ] as const)('refuses %s', (_case, engine, type, params, expected) => {
    expect(faults(engine, type, params)).toEqual(expected);
  });
});

describe('validateAction of a draft that lacks something', () => {
  const lacking = ['params.to', 'params.body'];
  const check = (params: unknown) => {
    const checked = validateAction('ops', 'email.send', params, { lacking });
    return checked.ok ? [] : checked.faults.map(({ path }) => path);
  };

  it.each([
    ['an empty list and an empty text', { to: [], subject: 'Hello', body: ' ' }],
    ['nothing at all', { subject: 'Hello' }],
    ['null', { to: null, subject: 'Hello', body: null }],
    ['what is complete', mail],
  ])('forgives %s at exactly these paths', (_what, params) => {
    expect(check(params)).toEqual([]);
  });

  it.each([
    ['elsewhere', { to: [], subject: '', body: '' }, ['params.subject']],
    ['below', { to: ['ada'], subject: 'Hello', body: '' }, ['params.to.0']],
    ['where something stands', { to: 'ada', subject: 'Hello', body: 7 }, ['params.to', 'params.body']],
    ['in a name', { ...mail, bcc: [] }, ['params.bcc']],
  ])('does not forgive a fault %s', (_where, params, paths) => {
    expect(check(params)).toEqual(paths);
  });

  it('an address that is lacking in a list is nobody', () => {
    const params = { ...mail, to: [''] };
    const checked = validateAction('ops', 'email.send', params, { lacking: ['params.to.0'] });
    expect(checked.ok && titleOf(checked.action)).toBe('Mail to (nobody yet): Hello');
  });

  it.each(ACTION_TYPE_NAMES)('%s can be described when everything is lacking', (type) => {
    const action = { type, params: {} } as Action;
    for (const text of [summaryOf([action]), bodyOf([action]), titleOf(action)]) {
      expect(text).not.toMatch(/undefined|null/);
      expect(text).toMatch(/\((nobody|no \w+) yet\)/);
    }
    expect(ACTION_TYPES[type].target({})).toBeNull();
  });
});

describe('a document that was edited as the text that was shown', () => {
  it.each([
    ['# Title\n\nText', { title: 'Title', body: 'Text' }],
    ['# Other\nText', { title: 'Other', body: 'Text' }],
    ['# Title\n\n\n# Title\n', { title: 'Title', body: '\n# Title\n' }],
    ['# Title', { title: 'Title', body: '' }],
    ['Text\n# Title\n', { title: 'Title', body: 'Text\n# Title\n' }],
    ['## Part\n\nText', { title: 'Title', body: '## Part\n\nText' }],
  ])('%j is read back as it was written', (text, document) => {
    expect(documentFrom(text, 'Title')).toEqual(document);
  });

  it.each(['Text', '\n\nText\n', '# Title\n\nText', '\n'])('%j comes back unchanged', (body) => {
    const shown = bodyOf([{ type: 'document.file', params: { title: 'Title', body: `x${body}` } }]);
    expect(documentFrom(shown, 'Title')).toEqual({ title: 'Title', body: `x${body}` });
  });
});

describe('scores', () => {
  it('multiply the base of the type by every factor', () => {
    expect(leverageOf('email.send', {})).toBe(3);
    expect(leverageOf('email.send', { priority: 1.5, deadline: 1.25 })).toBe(5.625);
  });
});

describe('reversibility', () => {
  it.each([
    [[], 'read_only'],
    [['reversible', 'read_only'], 'reversible'],
    [['reversible', 'irreversible', 'externally_reversible'], 'irreversible'],
  ] as const)('of %j is %s', (list, highest) => {
    expect(highestReversibility(list)).toBe(highest);
  });
});

describe('risk', () => {
  it.each([
    [{ reversibility: 'read_only', priority: 'high', amount: 1e9 }, 'low'],
    [{ reversibility: 'reversible', priority: 'high' }, 'low'],
    [{ reversibility: 'reversible', priority: 'low', amount: 10_000 }, 'medium'],
    [{ reversibility: 'irreversible', priority: 'medium', recipients: 1 }, 'medium'],
    [{ reversibility: 'irreversible', priority: 'high', recipients: 1 }, 'high'],
    [{ reversibility: 'irreversible', priority: 'medium', recipients: 11 }, 'high'],
    [{ reversibility: 'irreversible', priority: 'medium', recipients: 51 }, 'critical'],
    [{ reversibility: 'externally_reversible', priority: 'high', amount: 100_000 }, 'critical'],
  ] as const)('of %j is %s', (exposure, risk) => {
    expect(riskOf(exposure)).toBe(risk);
  });
});
