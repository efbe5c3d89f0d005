import type { StandingOrderEntity } from '../standing-orders/index.js';
import type { CapoRole } from '../terms/index.js';
import type { EvalTarget } from './eval-run.entity.js';
import type { EvalKind, Rule } from './rule.js';
import { SAFETY_RULES } from './safety-rules.js';
import type { SafetyTarget } from './safety-target.js';
import { SKILL_RULES, type SkillTarget } from './skill-rules.js';
import { SOUNDNESS_RULES, type SoundnessTarget } from './soundness-rules.js';
import type { StoredPacket } from './eval-targets.js';

export const KIND_OF: Readonly<Record<EvalTarget, EvalKind>> = {
  standing_order: 'standing_order_safety',
  workflow_candidate: 'workflow_candidate_soundness',
  skill: 'skill_definition_syntax',
};

/** What a run is about: a target with the rules that it is held against, and how a receipt names it. */
export interface EvalSubject<Target = unknown> {
  kind: EvalKind;
  entityType: EvalTarget;
  entityId: string;
  version: number | null;
  teamId: string | null;
  directiveId: string | null;
  capo: CapoRole | null;
  /** How a sentence names it, such as `the standing order "Delivery mail"`. */
  called: string;
  rules: readonly Rule<Target>[];
  target: Target;
}

export function orderSubject(
  {
    standingOrderId,
    version,
    teamId,
    name,
  }: Pick<StandingOrderEntity, 'standingOrderId' | 'version' | 'teamId' | 'name'>,
  target: SafetyTarget,
): EvalSubject<SafetyTarget> {
  return {
    kind: KIND_OF.standing_order,
    entityType: 'standing_order',
    entityId: standingOrderId,
    version,
    teamId,
    directiveId: null,
    capo: null,
    called: `the standing order "${name}"`,
    rules: SAFETY_RULES,
    target,
  };
}

export function packetSubject({ packet, directive, targets }: StoredPacket): EvalSubject<SoundnessTarget> {
  const { workPacketId, teamId, directiveId, capo, title } = packet;
  return {
    kind: KIND_OF.workflow_candidate,
    entityType: 'workflow_candidate',
    entityId: workPacketId,
    version: null,
    teamId,
    directiveId,
    capo,
    called: `the work packet "${title}"`,
    rules: SOUNDNESS_RULES,
    target: { packet, directive, targets },
  };
}

export function skillSubject(
  name: string,
  target: SkillTarget,
  { teamId, capo }: { teamId: string | null; capo: CapoRole | null },
): EvalSubject<SkillTarget> {
  const { schemaVersion } = target;
  return {
    kind: KIND_OF.skill,
    entityType: 'skill',
    entityId: name,
    version: isVersion(schemaVersion) ? schemaVersion : null,
    teamId,
    directiveId: null,
    capo,
    called: `the skill "${name}"`,
    rules: SKILL_RULES,
    target,
  };
}

/** As the column holds it; any other is a finding. */
function isVersion(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) < 2 ** 31;
}
