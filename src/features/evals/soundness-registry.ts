import {
  ACTION_TYPES,
  type ActionType,
  compensationOf,
  isActionType,
  validateAction,
} from '../capos/action-types.js';
import { engineOf } from '../capos/capo.js';
import { actionOf } from '../directives/packets/work-packet.js';
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
    reason: 'What the registry refuses cannot be sent.',
    suggestion: 'Correct the parameters, or name what a person has to supply.',
    check: ({ packet: { capo, actionType, params, needsInput } }) => {
      const lacking = needsInput.map(({ path }) => path);
      const validated = validateAction(engineOf(capo), actionType, params, { lacking });
      if (validated.ok) return [];
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
    id: 'packet.reversibility',
    severity: 'critical',
    reason: 'How far a work packet can be undone is the class of its action type, whatever a draft says.',
    suggestion: 'Let the work packet be drafted again.',
    check: ({ packet: { actionType, reversibility } }) => {
      if (!isActionType(actionType) || ACTION_TYPES[actionType].reversibility === reversibility) return [];
      const message = `The registry says that it is ${ACTION_TYPES[actionType].reversibility}.`;
      return [{ path: 'reversibility', message, evidence: reversibility }];
    },
  },
  {
    id: 'packet.compensation',
    severity: 'critical',
    reason: 'A work packet is undone by what the registry declares; another undo would be another act.',
    suggestion: 'Let the work packet be drafted again.',
    check: ({ packet }) => {
      const { actionType, compensation } = packet;
      if (!isActionType(actionType)) return [];
      const declared = compensationOf(actionOf(packet))?.type ?? null;
      const said = compensation?.type ?? null;
      if (said === declared) return [];
      const message =
        declared === null ? 'The registry declares no undo.' : `The registry declares the undo ${declared}.`;
      return [{ path: 'compensation', message, evidence: said }];
    },
  },
  {
    id: 'packet.target',
    severity: 'warning',
    reason:
      'Whom a work packet reaches is read from its parameters; a target that says otherwise misleads whoever decides.',
    suggestion: 'Let the work packet be drafted again.',
    check: ({ packet: { actionType, params, target } }) => {
      if (!isActionType(actionType)) return [];
      // The registry pairs each type with its parameters; that these are those is what another rule looks at.
      const type = ACTION_TYPES[actionType] as unknown as ActionType<Record<string, unknown>>;
      const reached = type.target(params);
      if (reached === target) return [];
      return [
        { path: 'action.target', message: `Its parameters reach ${reached ?? 'nobody'}.`, evidence: target },
      ];
    },
  },
];
