import { NO_TARGETS, type OutsideTargets } from '../../src/features/capos/outside-targets.js';
import type { SoundnessTarget } from '../../src/features/evals/soundness-rules.js';
import type { Cases } from './corpus-orders.js';

type Packet = SoundnessTarget['packet'];

/** A mail as the built-in runner drafts it: nothing is found in it. */
const SOUND: SoundnessTarget = {
  packet: {
    capo: 'capo_ops',
    engine: 'ops',
    title: 'Mail to jane@acme.example: Your delivery',
    kind: 'message',
    actionType: 'email.send',
    target: 'jane@acme.example',
    params: {
      to: ['jane@acme.example'],
      subject: 'Your delivery',
      body: 'It arrives on Friday and costs 600 EUR.',
    },
    needsInput: [],
    reversibility: 'irreversible',
    compensation: null,
    result: null,
    executedAt: null,
    leverageScore: 3,
    multipliers: {},
    rationale: 'The directive asks for a mail about the delivery.',
  },
  targets: NO_TARGETS,
  directive: { text: 'Email jane@acme.example about the delivery.', priority: 'medium', context: {} },
};

export function candidate(
  packet: Partial<Packet> = {},
  directive: Partial<SoundnessTarget['directive']> = {},
  targets: OutsideTargets = NO_TARGETS,
): SoundnessTarget {
  return {
    packet: { ...SOUND.packet, ...packet },
    targets,
    directive: { ...SOUND.directive, ...directive },
  };
}

const rated = (multipliers: Record<string, number>, more: Partial<Packet> = {}) =>
  candidate({
    multipliers,
    leverageScore: Math.round(Object.values(multipliers).reduce((all, one) => all * one, 3) * 1000) / 1000,
    rationale: `It matters: ${Object.keys(multipliers).join(', ')}.`,
    ...more,
  });

const DOCUMENT: Partial<Packet> = {
  kind: 'document',
  actionType: 'document.file',
  target: 'Memo',
  params: { title: 'Memo', body: 'It arrives on Friday.' },
  reversibility: 'reversible',
  compensation: { type: 'document.withdraw', params: {} },
  leverageScore: 1,
};

const DESTINATION = {
  destinationId: 'whk_01kerr2kg0xaen9f9sdsg8py4z',
  description: 'ERP',
  url: 'https://erp.example/in',
};

const CREATE_CONTACT: OutsideTargets['operations'][number] = {
  connector: 'crm',
  operation: 'create_contact',
  description: 'Adds a contact',
  method: 'POST',
  url: 'https://crm.example/contacts',
  params: { type: 'object', properties: { email: { type: 'string' } }, required: ['email'] },
  timeoutMs: 2_000,
  repeatable: false,
  hasKey: false,
  readOnly: false,
  amount: null,
  undo: { operation: 'delete_contact', params: { id: 'response.id' } },
  definition: 'a'.repeat(64),
};

const FIND_CONTACT: OutsideTargets['operations'][number] = {
  ...CREATE_CONTACT,
  operation: 'find_contact',
  method: 'GET',
  readOnly: true,
  undo: null,
};

const TARGETS: OutsideTargets = {
  destinations: [DESTINATION],
  operations: [CREATE_CONTACT, FIND_CONTACT],
};

const outside = (packet: Partial<Packet>, more: Partial<Packet> = {}, targets = TARGETS) =>
  candidate({ ...packet, ...more }, {}, targets);

/** An event as it is drafted: with the destination in a person's words. */
const POST: Partial<Packet> = {
  kind: 'message',
  actionType: 'webhook.post',
  target: 'ERP',
  params: {
    destinationId: DESTINATION.destinationId,
    destination: 'ERP (https://erp.example/in)',
    data: { order: 17 },
  },
  leverageScore: 2,
};

/** A call as it is drafted: with its request, and the hash of what the file says of it. */
const CALL: Partial<Packet> = {
  kind: 'call',
  actionType: 'http.call',
  target: 'POST https://crm.example/contacts',
  params: {
    connector: 'crm',
    operation: 'create_contact',
    arguments: { email: 'jane@acme.example' },
    request: 'POST https://crm.example/contacts',
    definition: CREATE_CONTACT.definition,
  },
  reversibility: 'externally_reversible',
  compensation: { type: 'http.undo', params: { connector: 'crm', operation: 'delete_contact' } },
  leverageScore: 2,
};

const SEARCH: Partial<Packet> = {
  ...CALL,
  target: 'GET https://crm.example/contacts?email=jane%40acme.example',
  params: {
    ...CALL.params,
    operation: 'find_contact',
    request: 'GET https://crm.example/contacts?email=jane%40acme.example',
  },
  reversibility: 'read_only',
  compensation: null,
};

const UNDO = {
  connector: 'crm',
  operation: 'delete_contact',
  arguments: { id: 'c_42' },
  definition: 'b'.repeat(64),
};

/** A call that was answered: its undo is that of the answer. */
const CALLED: Partial<Packet> = {
  ...CALL,
  result: { status: 201, undo: UNDO },
  compensation: { type: 'http.undo', params: UNDO },
  executedAt: 1_768_209_600_000,
};

const RENAMED: OutsideTargets = { ...TARGETS, destinations: [{ ...DESTINATION, description: 'Test' }] };
const DESCRIBED_ANEW: OutsideTargets = {
  ...TARGETS,
  operations: [{ ...CREATE_CONTACT, definition: 'c'.repeat(64) }],
};

/** What reaches something outside, as it is drafted, carried out and looked at long afterwards: nothing is found in it. */
export const SOUND_OUTSIDE: Record<string, SoundnessTarget> = {
  'an event': outside(POST),
  'a call that can be undone': outside(CALL),
  'a call that only reads': outside(SEARCH),
  'a call whose operation a person is asked for': outside(CALL, {
    target: null,
    params: { connector: 'crm', arguments: {} },
    needsInput: [{ path: 'params.operation', message: 'Which operation?' }],
    compensation: null,
  }),
  'a call that was answered': outside(CALLED),
  'a call whose answer lacked what its undo needs': outside(CALLED, {
    result: {
      status: 201,
      undo: { connector: 'crm', operation: 'delete_contact', missing: ['response.id'] },
    },
    compensation: {
      type: 'http.undo',
      params: { connector: 'crm', operation: 'delete_contact', missing: ['response.id'] },
    },
  }),
  'a call that failed': outside(CALL, { result: { status: 400, error: { code: 'X', message: 'No.' } } }),
  'an event whose destination is gone since it was posted': outside(
    POST,
    { executedAt: 1_768_209_600_000, result: { status: 200 } },
    NO_TARGETS,
  ),
  'a call whose operation is another since it was made': outside(CALLED, {}, DESCRIBED_ANEW),
};

export const PACKETS: Record<string, Cases<SoundnessTarget>> = {
  'packet.leverage_score': {
    found: { 'another product': rated({ deadline: 2 }, { leverageScore: 6.001 }) },
    missed: { 'the product to three decimals': rated({ deadline: 1.1, size: 1.111 }) },
  },
  'packet.multiplier_range': {
    found: {
      'more than ten': rated({ deadline: 10.5 }),
      'less than a tenth': rated({ deadline: 0.09 }),
    },
    missed: { 'the ends of the range': rated({ deadline: 10, size: 0.1 }) },
  },
  'packet.multiplier_name': {
    found: { 'a sign for a name': rated({ '??? deadline': 2 }) },
    missed: { 'a name of two words': rated({ 'deadline near': 2 }) },
  },
  'packet.many_multipliers': {
    found: { four: rated({ deadline: 2, size: 2, trust: 2, urgency: 2 }) },
    missed: { three: rated({ deadline: 2, size: 2, trust: 2 }) },
  },
  'packet.extreme_product': {
    found: {
      'more than a hundred': rated({ deadline: 10, size: 10, trust: 1.1 }),
      'less than a hundredth': rated({ deadline: 0.1, size: 0.1, trust: 0.9 }),
    },
    missed: { 'a hundred': rated({ deadline: 10, size: 10 }) },
  },
  'packet.idle_multiplier': {
    found: { one: rated({ deadline: 1 }) },
    missed: { 'a little more': rated({ deadline: 1.01 }) },
  },
  'packet.priority_multiplier': {
    found: { 'haste that nobody asked for': rated({ priority: 1.5 }) },
    missed: {
      'haste that was asked for': candidate(
        { multipliers: { priority: 1.5 }, leverageScore: 4.5 },
        { priority: 'high' },
      ),
    },
  },
  'packet.no_rationale': {
    found: { none: candidate({ rationale: ' … ' }), 'next to none': candidate({ rationale: 'Because' }) },
    missed: {
      'a short one': candidate({ rationale: 'Asked for.' }),
      'another script': candidate({ rationale: '指示書に書かれています。' }),
    },
  },
  'packet.unexplained_multiplier': {
    found: {
      'a factor out of nowhere': rated({ deadline: 2 }, { rationale: 'The customer asked for a mail.' }),
    },
    missed: {
      'another form of the word': rated({ urgency: 2 }, { rationale: 'The customer calls it urgent.' }),
    },
  },
  'packet.foreign_facts': {
    found: {
      'a stranger': candidate({ rationale: 'The directive asks to write to joe@other.example.' }),
      'another sum': candidate({ rationale: 'The directive asks for 700 EUR.' }),
    },
    missed: {
      'the recipient in other letters': candidate({
        rationale: 'The directive asks to write to Jane@ACME.example.',
      }),
      'a sum of the context': candidate(
        { rationale: 'The directive asks for 700 EUR.' },
        { context: { total: 700 } },
      ),
    },
  },
  'packet.played_down': {
    found: { 'a promise': candidate({ rationale: 'The mail can easily be undone later.' }) },
    missed: {
      'what can be undone': candidate({ ...DOCUMENT, rationale: 'The memo can be undone later.' }),
      'the word in a quotation': candidate({ rationale: 'The directive says: “this is reversible”.' }),
      'its opposite': candidate({ rationale: 'The mail is irreversible, so it should be read.' }),
    },
  },
  'packet.scope': {
    found: {
      'an action of other capos': candidate({
        ...DOCUMENT,
        ...SOUND.packet,
        capo: 'ceo',
        engine: 'executive',
      }),
      'an engine of another capo': candidate({ engine: 'revenue' }),
    },
    missed: { 'an action of the capo': candidate(DOCUMENT) },
  },
  'packet.params': {
    found: {
      'a parameter that is missing': candidate({ params: { ...SOUND.packet.params, subject: '' } }),
      'a destination that the workspace does not have': outside(POST, {}, NO_TARGETS),
      'arguments that the operation does not take': outside(CALL, {
        params: { ...CALL.params, arguments: { name: 'Jane' } },
      }),
    },
    missed: {
      'a parameter that a person is asked for': candidate({
        params: { ...SOUND.packet.params, subject: '' },
        needsInput: [{ path: 'params.subject', message: 'What is the subject?' }],
      }),
    },
  },
  'packet.outside_changed': {
    found: {
      'a destination of another name': outside(POST, {}, RENAMED),
      'an operation that the file describes anew': outside(CALL, {}, DESCRIBED_ANEW),
    },
    missed: {
      'what was carried out before': outside(CALLED, {}, DESCRIBED_ANEW),
      'what is there no more': outside(POST, {}, NO_TARGETS),
    },
  },
  'packet.reversibility': {
    found: {
      'a class that the draft chose': candidate({ reversibility: 'reversible' }),
      'a call that changes something and says that it reads': outside(CALL, { reversibility: 'read_only' }),
      'a call that reads and says that it changes something': outside(SEARCH, {
        reversibility: 'externally_reversible',
      }),
    },
    missed: { 'the class of the registry': candidate(), 'the class of the operation': outside(SEARCH) },
  },
  'packet.compensation': {
    found: {
      'an undo that there is not': candidate({ compensation: { type: 'email.recall', params: {} } }),
      'no undo where there is one': candidate({ ...DOCUMENT, compensation: null }),
      'the undo of another document': candidate({
        ...DOCUMENT,
        result: { documentId: 'doc_1' },
        compensation: { type: 'document.withdraw', params: { documentId: 'doc_2' } },
      }),
      'another operation than the answer named': outside(CALLED, {
        compensation: { type: 'http.undo', params: { ...UNDO, arguments: { id: 'c_43' } } },
      }),
    },
    missed: {
      'the undo of an execution': candidate({
        ...DOCUMENT,
        result: { documentId: 'doc_1' },
        compensation: { type: 'document.withdraw', params: { documentId: 'doc_1' } },
      }),
    },
  },
  'packet.target': {
    found: { 'somebody else': candidate({ target: 'joe@acme.example' }) },
    missed: {
      'nobody yet': candidate({
        target: null,
        params: { ...SOUND.packet.params, to: [] },
        needsInput: [{ path: 'params.to', message: 'Who?' }],
      }),
    },
  },
};
