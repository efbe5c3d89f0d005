import type { SoundnessTarget } from '../../src/features/evals/soundness-target.js';
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
    leverageScore: 3,
    multipliers: {},
    rationale: 'The directive asks for a mail about the delivery.',
  },
  directive: { text: 'Email jane@acme.example about the delivery.', priority: 'medium', context: {} },
};

export function candidate(
  packet: Partial<Packet> = {},
  directive: Partial<SoundnessTarget['directive']> = {},
): SoundnessTarget {
  return { packet: { ...SOUND.packet, ...packet }, directive: { ...SOUND.directive, ...directive } };
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
    found: { 'a parameter that is missing': candidate({ params: { ...SOUND.packet.params, subject: '' } }) },
    missed: {
      'a parameter that a person is asked for': candidate({
        params: { ...SOUND.packet.params, subject: '' },
        needsInput: [{ path: 'params.subject', message: 'What is the subject?' }],
      }),
    },
  },
  'packet.reversibility': {
    found: { 'a class that the draft chose': candidate({ reversibility: 'reversible' }) },
    missed: { 'the class of the registry': candidate() },
  },
  'packet.compensation': {
    found: {
      'an undo that there is not': candidate({ compensation: { type: 'email.recall', params: {} } }),
      'no undo where there is one': candidate({ ...DOCUMENT, compensation: null }),
    },
    missed: {
      'the undo of an execution': candidate({
        ...DOCUMENT,
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
