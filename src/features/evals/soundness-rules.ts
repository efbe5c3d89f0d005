import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import {
  ACTION_TYPES,
  isActionType,
  leverageOf,
  type Amount,
  addressesIn,
  amountsIn,
  isSameAmount,
  numbersIn,
  stringsIn,
  type ActionType,
  type Compensation,
  OURS,
  OUTSIDE_TYPES,
  type ValidAction,
  type Validation,
  compensationOf,
  engineOf,
  validateAction,
  withoutAddress,
} from '../capos/index.js';
import type { Priority } from '../terms/index.js';
import { actionOf } from '../directives/index.js';
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
const LEVERAGE_RULES: readonly Rule<SoundnessTarget>[] = [
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

/** "Asked for." */
const FEWEST_LETTERS = 8;
/** Quotations are somebody else's words. */
const QUOTED = /“[^”]*”|"[^"]*"/g;
const PLAYED_DOWN =
  /\b(?:(?:can|could|may) (?:easily |always |still )?be (?:undone|reverted|reversed|taken back|recalled)|reversible|no risk|risk-free|harmless)\b/i;
const NAMED_BY_ITSELF = new Set(['priority']);

/** Whether the rationale fits what the work packet does and how it was rated. */
const RATIONALE_RULES: readonly Rule<SoundnessTarget>[] = [
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

/** Whether a work packet is what the registry of action types says of it. */
const REGISTRY_RULES: readonly Rule<SoundnessTarget>[] = [
  {
    id: 'packet.scope',
    severity: 'critical',
    reason: 'Which capo may do what is said by the registry of action types, and by nothing else.',
    suggestion: 'Hand the directive to a capo whose engine has this action type.',
    check: ({ packet: { capo, engine, actionType } }) => {
      const at = (message: string) => [{ path: 'action.type', message, evidence: `${capo}: ${actionType}` }];
      if (!isActionType(actionType)) return at('The registry knows no such action type.');
      if (engine !== engineOf(capo))
        return at(`The engine of ${capo} is ${engineOf(capo)} and not ${engine}.`);
      return ACTION_TYPES[actionType].engines.some((one) => one === engine)
        ? []
        : at(`The engine ${engine} has no such action type.`);
    },
  },
  {
    id: 'packet.params',
    severity: 'critical',
    reason: 'A work packet that the registry refuses cannot be sent.',
    suggestion: 'Correct the parameters, or name what a person has to supply.',
    check: (target) => {
      const validated = validatedNow(target);
      if (validated.ok || isPast(target, validated)) return [];
      return validated.faults
        .filter(({ path }) => path !== 'type')
        .map(({ path, rule, message }) => ({
          path: `action.${path}`,
          message: `The parameter ${message}.`,
          evidence: rule,
        }));
    },
  },
  {
    id: 'packet.outside_changed',
    severity: 'critical',
    reason:
      'The destination or operation is part of the approved content; if it has changed, the work packet is not sent.',
    suggestion: 'Let the work packet be drafted again.',
    check: (target) => {
      const validated = validatedNow(target);
      return validated.ok && target.packet.executedAt === null
        ? changedOutside(target, validated).map((name) => ({
            path: `action.params.${name}`,
            message: 'Its target has changed since it was drafted.',
            evidence: withoutAddress(target.packet.actionType, target.packet.params)[name],
          }))
        : [];
    },
  },
  {
    id: 'packet.reversibility',
    severity: 'critical',
    reason: 'The registry and the operation define how far a work packet can be undone, not the draft.',
    suggestion: 'Let the work packet be drafted again.',
    check: (target) => {
      const { reversibility } = target.packet;
      const declared = declaredOf(target)?.reversibility ?? reversibility;
      if (reversibility === declared) return [];
      const message = `The registry says that it is ${declared}.`;
      return [{ path: 'reversibility', message, evidence: reversibility }];
    },
  },
  {
    id: 'packet.compensation',
    severity: 'critical',
    reason: 'A work packet is undone by what the registry declares; another undo would be another act.',
    suggestion: 'Let the work packet be drafted again.',
    check: (target) => {
      const { compensation } = target.packet;
      const declared = declaredOf(target)?.compensation;
      if (declared === undefined || isSame(declared, compensation)) return [];
      const message =
        declared === null
          ? 'The registry declares no undo.'
          : `The registry declares the undo ${declared.type}${isSameType(declared, compensation) ? ', of something else' : ''}.`;
      return [{ path: 'compensation', message, evidence: compensation }];
    },
  },
  {
    id: 'packet.target',
    severity: 'warning',
    reason: 'The parameters define the recipients; a target that differs from them misleads the approver.',
    suggestion: 'Let the work packet be drafted again.',
    check: ({ packet: { actionType, params, target } }) => {
      if (!isActionType(actionType)) return [];
      // The registry pairs each type with its parameters; that these are those is what another rule looks at.
      const type = ACTION_TYPES[actionType] as unknown as ActionType<Record<string, unknown>>;
      const reached = type.target(params);
      // A post that was drafted before docs/decisions/0029 names its destination with the address.
      if (reached === target || (actionType === 'webhook.post' && target === params['destination']))
        return [];
      return [
        { path: 'action.target', message: `Its parameters reach ${reached ?? 'nobody'}.`, evidence: target },
      ];
    },
  },
];

/** What the registry says of it now, and what the workspace reaches outside. */
function validatedNow({ packet, targets }: SoundnessTarget): Validation {
  const { capo, actionType, params, needsInput } = packet;
  const lacking = needsInput.map(({ path }) => path);
  return validateAction(engineOf(capo), actionType, params, { lacking, targets });
}

/** The parameters that only we write and that would be others if it was drafted now. */
function changedOutside(
  { packet: { actionType, params } }: SoundnessTarget,
  { action }: ValidAction,
): string[] {
  const now: Readonly<Record<string, unknown>> = action.params;
  return (OURS[actionType] ?? []).filter((name) => !isSame(params[name] ?? null, now[name] ?? null));
}

/** It was carried out with what is gone by now, or another: that says nothing about it any more. */
function isPast(target: SoundnessTarget, validated: Validation): boolean {
  const { executedAt, actionType } = target.packet;
  const isOutside = OUTSIDE_TYPES.includes(actionType);
  return executedAt !== null && isOutside && (!validated.ok || changedOutside(target, validated).length > 0);
}

/** How far the registry says that it can be undone, and by what; undefined where that cannot be told. */
function declaredOf(
  target: SoundnessTarget,
): { reversibility: ValidAction['reversibility']; compensation: Compensation | null } | undefined {
  const { packet } = target;
  const { actionType, result } = packet;
  if (!isActionType(actionType)) return undefined;
  const ofResult = compensationOf(actionOf(packet), result ?? {});
  if (!OUTSIDE_TYPES.includes(actionType)) {
    return { reversibility: ACTION_TYPES[actionType].reversibility, compensation: ofResult };
  }
  const validated = validatedNow(target);
  if (!validated.ok || isPast(target, validated)) return undefined;
  return { reversibility: validated.reversibility, compensation: ofResult ?? validated.compensation };
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson([one]) === canonicalJson([other]);
}

function isSameType(one: Compensation, other: Compensation | null): boolean {
  return one.type === other?.type;
}

/** The rules of `workflow_candidate_soundness`. */
export const SOUNDNESS_RULES: readonly Rule<SoundnessTarget>[] = [
  ...LEVERAGE_RULES,
  ...RATIONALE_RULES,
  ...REGISTRY_RULES,
];
