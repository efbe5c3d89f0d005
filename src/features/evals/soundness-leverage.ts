import { ACTION_TYPES, isActionType, leverageOf } from '../capos/index.js';
import type { Priority } from '../terms/index.js';
import type { Rule } from './rule.js';
import type { SoundnessTarget } from './soundness-target.js';

/** What a model is told, and what its answers are held to. */
const LEAST = 0.1;
const MOST = 10;
const NAME = /^[a-z][\w -]{0,39}$/i;
const MANY = 3;
/** Two factors of the largest size. */
const EXTREME = 100;
/** `leverageOf` rounds to three decimals. */
const TOLERANCE = 0.0005;

/** Whether the score says what its factors say. */
export const LEVERAGE_RULES: readonly Rule<SoundnessTarget>[] = [
  {
    id: 'packet.leverage_score',
    severity: 'critical',
    reason:
      'The score is the base of the action type times the product of the multipliers; any other cannot be explained.',
    suggestion: 'Compute the score again from the multipliers.',
    check: ({ packet: { actionType, leverageScore, multipliers } }) => {
      if (!isActionType(actionType)) return [];
      const wanted = leverageOf(actionType, multipliers);
      if (Math.abs(leverageScore - wanted) <= TOLERANCE) return [];
      const { baseScore } = ACTION_TYPES[actionType];
      const message = `The score is ${leverageScore}; the base ${baseScore} times the multipliers is ${wanted}.`;
      return [{ path: 'leverageScore', message, evidence: leverageScore }];
    },
  },
  {
    id: 'packet.multiplier_range',
    severity: 'critical',
    reason: 'A factor outside of 0.1 to 10 drowns every other reason for the work packet.',
    suggestion: `Give each multiplier a value from ${LEAST} to ${MOST}.`,
    check: ({ packet: { multipliers } }) =>
      Object.entries(multipliers)
        .filter(([, value]) => !(value >= LEAST && value <= MOST))
        .map(([name, value]) => ({
          path: `multipliers.${name}`,
          message: `The multiplier is not from ${LEAST} to ${MOST}.`,
          evidence: value,
        })),
  },
  {
    id: 'packet.multiplier_name',
    severity: 'warning',
    reason: 'A factor without a name that says what it stands for cannot be judged.',
    suggestion: 'Name the multiplier in one to forty letters, such as `deadline`.',
    check: ({ packet: { multipliers } }) =>
      Object.keys(multipliers)
        .filter((name) => !NAME.test(name))
        .map((name) => ({
          path: 'multipliers',
          message: 'A multiplier has no readable name.',
          evidence: name,
        })),
  },
  {
    id: 'packet.many_multipliers',
    severity: 'info',
    reason: 'Of more than three factors nobody can tell which one made the score.',
    suggestion: 'Keep the three that matter most.',
    check: ({ packet: { multipliers } }) => {
      const { length } = Object.keys(multipliers);
      return length > MANY
        ? [{ path: 'multipliers', message: `There are ${length} multipliers.`, evidence: length }]
        : [];
    },
  },
  {
    id: 'packet.extreme_product',
    severity: 'warning',
    reason:
      'Factors that multiply to more than a hundred, or to less than a hundredth, make every other score meaningless.',
    suggestion: 'Use fewer or smaller multipliers.',
    check: ({ packet: { multipliers } }) => {
      const product = Object.values(multipliers).reduce((all, factor) => all * factor, 1);
      if (product <= EXTREME && product >= 1 / EXTREME) return [];
      return [
        { path: 'multipliers', message: 'The product of the multipliers is extreme.', evidence: product },
      ];
    },
  },
  {
    id: 'packet.idle_multiplier',
    severity: 'info',
    reason: 'A factor of one changes nothing, and yet reads as a reason.',
    suggestion: 'Leave the multiplier out, or give it the value it stands for.',
    check: ({ packet: { multipliers } }) =>
      Object.entries(multipliers)
        .filter(([, value]) => value === 1)
        .map(([name]) => ({ path: `multipliers.${name}`, message: 'The multiplier is 1.', evidence: 1 })),
  },
  {
    id: 'packet.priority_multiplier',
    severity: 'warning',
    reason: 'The priority of a directive is set by the person who hands it in, and not by its draft.',
    suggestion:
      'Let the multiplier follow the priority of the directive: above 1 for high, below 1 for low, else none.',
    check: ({ packet: { multipliers }, directive: { priority } }) =>
      Object.entries(multipliers)
        .filter(([name, value]) => name.toLowerCase() === 'priority' && !agrees(value, priority))
        .map(([name, value]) => ({
          path: `multipliers.${name}`,
          message: `The multiplier is ${value}, and the priority of the directive is ${priority}.`,
          evidence: value,
        })),
  },
];

function agrees(factor: number, priority: Priority): boolean {
  if (priority === 'high') return factor >= 1;
  return priority === 'low' ? factor <= 1 : factor === 1;
}
