import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { briefingOf } from '../../evals/briefing.js';
import { type Case, KINDS, loadCases, readCases, SETS } from '../../evals/case.js';
import { Sources } from '../../evals/sources.js';

const cases = await loadCases(join(import.meta.dirname, '../../evals'), SETS);
const half = (set: Case['set']) => cases.filter((each) => each.set === set);

describe('the published instructions', () => {
  it('are at least eighty, half of them held out, with every kind in each half', () => {
    expect(cases.length).toBeGreaterThanOrEqual(80);
    expect(half('held-out')).toHaveLength(half('dev').length);
    for (const set of ['dev', 'held-out'] as const) {
      expect(new Set(half(set).map(({ kind }) => kind))).toEqual(new Set(KINDS));
    }
  });

  it('name only people who cannot exist', () => {
    const told = JSON.stringify(cases).matchAll(/[^\s"'<>(]+@([\p{L}\d-]+\.)+(?<top>[a-z]{2,})/giu);
    expect(new Set([...told].map(({ groups }) => groups!['top']))).toEqual(new Set(['example']));
  });

  it.each(cases)('$id expects only what stands in it', (instruction) => {
    const sources = new Sources(briefingOf(instruction, 'capo_ops'));
    for (const { to = [], cc = [], subject, body, amount } of instruction.expect.packets) {
      expect(sources.inventedIn([...to, ...cc, subject, body, amount].join('\n'))).toEqual([]);
      for (const text of [subject, body]) {
        if (text !== undefined) expect(sources.holdWordForWord(text), text).toBe(true);
      }
    }
  });
});

describe('a file of instructions with faults', () => {
  const RIGHT = {
    id: 'en-001',
    language: 'en',
    kind: 'mail',
    text: 'Email jane@acme.example: Hello.',
    expect: { packets: [{ type: 'email.send', to: ['jane@acme.example'] }] },
  };
  const read = (list: unknown) => () => readCases('en.json', JSON.stringify(list), 'dev');

  it('is read when it is right', () => {
    expect(read([RIGHT])()).toEqual([{ ...RIGHT, set: 'dev' }]);
  });

  it.each([
    ['no JSON', () => readCases('en.json', '[', 'dev'), 'en.json\n  is not JSON: '],
    ['no list', read({}), 'en.json\n  must be an array of cases'],
    ['another kind', read([{ ...RIGHT, kind: 'letter' }]), 'en.json\n  en-001: kind: Invalid option'],
    ['an unknown field', read([{ ...RIGHT, txt: '' }]), 'en-001: the case: Unrecognized key: "txt"'],
    [
      'no id',
      read([{ ...RIGHT, id: undefined, text: '' }]),
      'en.json\n  case 1: id: Invalid input: expected string, received undefined\n  case 1: text: Too small',
    ],
    [
      'a packet that the registry does not know',
      read([{ ...RIGHT, expect: { packets: [{ type: 'invoice.pay' }] } }]),
      'en-001: expect.packets.0.type: Invalid option',
    ],
    [
      'a routing beside a capo',
      read([{ ...RIGHT, capo: 'capo_ops', expect: { packets: [], routedTo: 'capo_ops' } }]),
      'en-001: expect.routedTo: is for cases without a capo, which the consigliere routes',
    ],
  ])('is refused with its name, its case and the field: %s', (_name, reading, message) => {
    expect(reading).toThrow(message);
  });
});
