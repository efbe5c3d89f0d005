import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { newId } from '../../platform/kernel/ids.js';
import { highestReversibility } from '../capos/index.js';
import { outcomeOfDraft } from '../directives/index.js';
import { type GuardianEntity, isHalted } from '../guardian/index.js';
import { type Decision, strictestElectorate, strictness } from '../standing-orders/index.js';
import type { Cost, GuardianMode, Reversibility } from '../terms/index.js';
import type {
  PreflightLimit,
  PreflightMatch,
  PreflightPacket,
  PreflightRoute,
  PreflightView,
} from './preflight.dto.js';

/** A work packet that may come of it, with what would be decided about it. */
interface Previewed {
  packet: Pick<PreflightPacket, 'title' | 'type' | 'target' | 'needsInput'> & {
    reversibility: Reversibility;
  };
  decision: Decision;
}

/** What an answer is made of. */
export interface Preflight {
  route: PreflightRoute;
  guardian: Pick<GuardianEntity, 'mode' | 'epoch'>;
  /** The work packets that it would come to. */
  previewed: readonly Previewed[];
  /** Why a person has to be asked whatever the orders say. */
  reasons: readonly string[];
  estimatedCost: Cost | null;
  warnings: readonly string[];
}

/** The answer to "what would happen, and why". */
export function preflightOf({
  route,
  guardian,
  previewed,
  reasons,
  estimatedCost,
  warnings,
}: Preflight): PreflightView {
  const decisions = previewed.map(({ decision }) => decision);
  // In these modes no work begins; what is handed in waits until they are over.
  const outcome = isHalted(guardian.mode) ? 'halted' : outcomeOfDraft(decisions, reasons);
  return {
    preflightId: newId('pfl'),
    outcome,
    explanation: [...new Set([...haltReasons(guardian.mode), ...reasons, ...explanationOf(decisions)])],
    route,
    approval:
      outcome === 'require_approval' ? strictestElectorate(decisions.map(({ approval }) => approval)) : null,
    packets: previewed.map(({ packet, decision }) => ({
      ...packet,
      outcome: isHalted(guardian.mode) ? 'halted' : decision.outcome,
    })),
    considered: [...new Set(decisions.flatMap(({ considered }) => considered))],
    matched: matchedOf(decisions),
    limits: limitsOf(decisions),
    guardian: { mode: guardian.mode, epoch: guardian.epoch },
    reversibility:
      previewed.length === 0
        ? null
        : highestReversibility(previewed.map(({ packet }) => packet.reversibility)),
    estimatedCost,
    warnings: [...modeWarnings(guardian.mode), ...warnings],
    decisionHash: hashOf(decisions),
  };
}

function haltReasons(mode: GuardianMode): string[] {
  if (!isHalted(mode)) return [];
  return mode === 'killed'
    ? ['The kill switch is engaged: nothing is drafted, approved or sent.']
    : ['The guardian is recovering from a kill: nothing is sent yet.'];
}

function modeWarnings(mode: GuardianMode): string[] {
  return mode === 'observe'
    ? ['The guardian only observes: what is approved now leaves when its mode changes, and not before.']
    : [];
}

/** What decided first, for the strictest decisions before the others. */
function explanationOf(decisions: readonly Decision[]): string[] {
  return decisions
    .toSorted((a, b) => strictness(b.outcome) - strictness(a.outcome))
    .flatMap(({ explanation }) => explanation);
}

function matchedOf(decisions: readonly Decision[]): PreflightMatch[] {
  const byId = new Map(
    decisions.flatMap(({ matched }) => matched).map((match) => [match.standingOrderId, match] as const),
  );
  return [...byId.values()];
}

/** Each limit once, where it would stand in the end. */
function limitsOf(decisions: readonly Decision[]): PreflightLimit[] {
  const furthest = new Map<string, PreflightLimit>();
  for (const result of decisions.flatMap(({ limits }) => limits)) {
    const key = `${result.standingOrderId} ${result.limit}`;
    const before = furthest.get(key);
    if (!before || (before.holds && !result.holds) || result.used > before.used) furthest.set(key, result);
  }
  return [...furthest.values()];
}

function hashOf(decisions: readonly Decision[]): string {
  const hashes = decisions.map(({ inputHash }) => inputHash);
  return hashes.length === 1 ? hashes[0]! : sha256(canonicalJson(hashes));
}
