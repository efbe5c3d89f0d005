import { Injectable } from '@nestjs/common';
import type { Fault } from '../../platform/kernel/define-error.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import type { Id } from '../../platform/kernel/ids.js';
import {
  ACTION_TYPES,
  CAPOS,
  type OutsideTargets,
  OutsideTargetsReader,
  type ValidAction,
  engineOf,
  isActionType,
  titleOf,
  validateAction,
} from '../capos/index.js';
import { strictness } from '../standing-orders/index.js';
import { CAPO_ROLES, type CapoRole, NO_COST, type Priority } from '../terms/index.js';
import { packetFor } from './packet-for.js';
import { type Preflight, preflightOf } from './preflight.js';
import type { PreflightActionBody, PreflightRoute, PreflightView } from './preflight.dto.js';
import { PreviewPackets } from './preview-packets.js';

/** Whose action it would be. */
export interface AskedFor {
  workspaceId: string;
  teamId: Id<'team'> | null;
  capo: CapoRole | null;
  priority: Priority;
}

/** An action of ours, as a work packet would have it. */
type ProposedAction = Required<Pick<PreflightActionBody, 'type' | 'params'>>;

/** What would be decided about an action if a capo proposed it now. */
@Injectable()
export class PreflightAction {
  constructor(
    private readonly previewPackets: PreviewPackets,
    private readonly targets: OutsideTargetsReader,
  ) {}

  /** @throws ValidationFailed with the paths at which the registry refuses the action */
  async execute(given: ProposedAction, asked: AskedFor): Promise<PreflightView> {
    const capos = asked.capo ? [asked.capo] : caposFor(given.type);
    const targets = await this.targets.for({ workspaceId: asked.workspaceId, teamIds: 'all' }, [given.type]);
    const answers = await Promise.all(
      capos.map((capo) => this.decide(validated(given, capo, targets), capo, asked)),
    );
    // Of those who could do it, the one with whom it would be strictest.
    const strictest = answers.toSorted((a, b) => strictnessOf(b) - strictnessOf(a))[0]!;
    return preflightOf({
      ...strictest,
      route: routeOf(asked.capo, capos),
      reasons: [],
      estimatedCost: NO_COST,
      warnings: warningsFor(capos, answers),
    });
  }

  private decide(valid: ValidAction, capo: CapoRole, asked: AskedFor) {
    const title = titleOf(valid.action);
    const packet = packetFor({ title, needsInput: [] }, valid, { ...asked, capo });
    return this.previewPackets.execute([packet], asked);
  }
}

/** @throws ValidationFailed */
function validated({ type, params }: ProposedAction, capo: CapoRole, targets: OutsideTargets): ValidAction {
  const checked = validateAction(engineOf(capo), type, params, { targets });
  if (checked.ok) return checked;
  throw refused(checked.faults);
}

/** Every capo whose engine has the action type. */
function caposFor(type: string): CapoRole[] {
  const engines: readonly string[] = isActionType(type) ? ACTION_TYPES[type].engines : [];
  const capos = CAPO_ROLES.filter((capo) => engines.includes(engineOf(capo)));
  if (capos.length === 0) {
    throw refused([{ path: 'type', rule: 'known', message: 'is not an action type' }]);
  }
  return capos;
}

function refused(faults: readonly Fault[]): Error {
  return new ValidationFailed({
    details: faults.map(({ path, rule, message }) => ({ path: `action.${path}`, rule, message })),
  });
}

function routeOf(named: CapoRole | null, capos: readonly CapoRole[]): PreflightRoute {
  const only = capos.length === 1 ? capos[0]! : null;
  if (named) {
    return {
      capo: named,
      routedBy: 'operator',
      candidates: [],
      reason: `The request names ${CAPOS[named].name}.`,
    };
  }
  const names = capos.map((capo) => CAPOS[capo].name).join(', ');
  const reason = only
    ? `Only ${names} can do this.`
    : `The request names no capo; these can do it: ${names}.`;
  return { capo: only, routedBy: 'consigliere', candidates: [], reason };
}

function warningsFor(capos: readonly CapoRole[], answers: readonly Pick<Preflight, 'previewed'>[]): string[] {
  if (capos.length === 1) return [];
  const outcomes = capos.map((capo, index) => `${capo}: ${answers[index]!.previewed[0]!.decision.outcome}`);
  return new Set(answers.map(strictnessOf)).size === 1
    ? []
    : [`The answer depends on the capo, and is the strictest one: ${outcomes.join(', ')}.`];
}

function strictnessOf({ previewed }: Pick<Preflight, 'previewed'>): number {
  return Math.max(...previewed.map(({ decision }) => strictness(decision.outcome)));
}
