import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import {
  ACTION_TYPES,
  type ActionType,
  type Compensation,
  OURS,
  OUTSIDE_TYPES,
  type ValidAction,
  type Validation,
  compensationOf,
  engineOf,
  isActionType,
  validateAction,
  withoutAddress,
} from '../capos/index.js';
import { actionOf } from '../directives/index.js';
import type { Rule } from './rule.js';
import type { SoundnessTarget } from './soundness-target.js';

/** Whether a work packet is what the registry of action types says of it. */
export const REGISTRY_RULES: readonly Rule<SoundnessTarget>[] = [
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
