import { type Amount, addressesIn, amountsIn, isSameAmount, numbersIn, stringsIn } from '../capos/index.js';
import type { Rule } from './rule.js';
import type { SoundnessTarget } from './soundness-target.js';

/** "Asked for." */
const FEWEST_LETTERS = 8;
/** Quotations are somebody else's words. */
const QUOTED = /“[^”]*”|"[^"]*"/g;
const PLAYED_DOWN =
  /\b(?:(?:can|could|may) (?:easily |always |still )?be (?:undone|reverted|reversed|taken back|recalled)|reversible|no risk|risk-free|harmless)\b/i;
const NAMED_BY_ITSELF = new Set(['priority']);

/** Whether the rationale fits what the work packet does and how it was rated. */
export const RATIONALE_RULES: readonly Rule<SoundnessTarget>[] = [
  {
    id: 'packet.no_rationale',
    severity: 'critical',
    reason: 'The approver must know why a work packet exists.',
    suggestion: 'Write in a sentence why the work packet is needed.',
    check: ({ packet: { rationale } }) => {
      const letters = rationale.match(/\p{L}/gu)?.length ?? 0;
      if (letters >= FEWEST_LETTERS) return [];
      const message = letters === 0 ? 'It has no rationale.' : 'Its rationale says next to nothing.';
      return [{ path: 'rationale', message, evidence: rationale }];
    },
  },
  {
    id: 'packet.unexplained_multiplier',
    severity: 'warning',
    reason: 'A factor that the rationale does not speak of was not reasoned, only set.',
    suggestion: 'Say in the rationale what each multiplier stands for, or leave it out.',
    check: ({ packet: { multipliers, rationale } }) =>
      Object.entries(multipliers)
        .filter(([name]) => !NAMED_BY_ITSELF.has(name.toLowerCase()) && !speaksOf(rationale, name))
        .map(([name, value]) => ({
          path: `multipliers.${name}`,
          message: `The rationale says nothing about "${name}".`,
          evidence: value,
        })),
  },
  {
    id: 'packet.foreign_facts',
    severity: 'warning',
    reason:
      'A rationale that names people or sums that the work packet does not have is about something else, or made up.',
    suggestion: 'Correct the rationale, or the parameters.',
    check: (target) =>
      foreignFacts(target).map((fact) => ({
        path: 'rationale',
        message: `The rationale names ${fact}, which stands neither in the work packet nor in its directive.`,
        evidence: fact,
      })),
  },
  {
    id: 'packet.played_down',
    severity: 'warning',
    reason:
      'The registry defines how far an act can be undone; a rationale that promises more misleads the approver.',
    suggestion: 'Take the sentence out of the rationale.',
    check: ({ packet: { rationale, reversibility } }) => {
      const said = PLAYED_DOWN.exec(rationale.replace(QUOTED, ' '))?.[0];
      if (said === undefined || reversibility !== 'irreversible') return [];
      const message = 'The rationale plays down what cannot be undone.';
      return [{ path: 'rationale', message, evidence: said }];
    },
  },
];

/** Whether a word of the name stands in the text, in any form. */
function speaksOf(text: string, name: string): boolean {
  const said = text.toLowerCase();
  const words = name
    .toLowerCase()
    .split(/[\s_-]+/)
    .filter((word) => word.length > 2);
  // A form of the word has the same beginning: "urgency", "urgent".
  return words.some((word) => said.includes(word.slice(0, Math.max(4, word.length - 3))));
}

/** Addresses and sums of the rationale that nobody gave. */
function foreignFacts({ packet, directive }: SoundnessTarget): string[] {
  const given = stringsIn([
    packet.params,
    packet.target,
    packet.title,
    directive.text,
    directive.context,
  ]).join('\n');
  const addresses = new Set(addressesIn(given));
  const numbers: readonly Amount[] = numbersIn(given);
  return [
    ...addressesIn(packet.rationale).filter((address) => !addresses.has(address)),
    ...amountsIn(packet.rationale)
      .filter((amount) => !numbers.some((number) => isSameAmount(number, amount)))
      .map(({ written }) => written),
  ];
}
