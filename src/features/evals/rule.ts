import { cutText } from '../../platform/kernel/text.js';

export const EVAL_KINDS = [
  'standing_order_safety',
  'workflow_candidate_soundness',
  'skill_definition_syntax',
] as const;
export type EvalKind = (typeof EVAL_KINDS)[number];

/** From the gravest. */
export const FINDING_SEVERITIES = ['critical', 'warning', 'info'] as const;
export type FindingSeverity = (typeof FINDING_SEVERITIES)[number];

/** Where a target breaks a rule. */
export interface Breach {
  /** Within the target, such as `match.actionTypes`; empty for the whole of it. */
  path: string;
  /** What is wrong there, for a person. */
  message: string;
  /** What was found there. */
  evidence?: unknown;
}

/** One rule of a kind of eval. Pure: the same target has the same breaches, whenever and wherever it is looked at. */
export interface Rule<Target> {
  /** Stays the same for good, since findings name it. */
  id: string;
  severity: FindingSeverity;
  /** Why it matters, in a sentence. */
  reason: string;
  /** What to do about it, in a sentence. */
  suggestion: string;
  check(target: Target): Breach[];
}

export interface Finding {
  ruleId: string;
  severity: FindingSeverity;
  path: string;
  message: string;
  evidence: string | null;
  suggestion: string;
}

export interface Assessment {
  status: 'completed' | 'error';
  score: number;
  passed: boolean;
  /** The gravest first, then by rule and path. */
  findings: Finding[];
  /** How many more there were. */
  findingsOmitted: number;
}

/** What a broken rule takes off the score; once, however often it is broken. */
export const PENALTIES: Readonly<Record<FindingSeverity, number>> = {
  critical: 0.5,
  warning: 0.1,
  info: 0.01,
};

/** From here on a target passes: not with one critical rule broken, nor with three warnings. Remarks hardly tip it. */
export const THRESHOLD = 0.75;

export const MAX_FINDINGS = 100;
const MAX_MESSAGE = 500;
const MAX_EVIDENCE = 300;

/**
 * Holds a target against every rule. A rule that fails to compute fails the eval: what could not be looked at has not
 * been found harmless.
 */
export function assess<Target>(rules: readonly Rule<Target>[], target: Target): Assessment {
  let status: Assessment['status'] = 'completed';
  const found = rules.flatMap((rule) => {
    try {
      return rule.check(target).map((breach) => findingOf(rule, breach));
    } catch (error) {
      status = 'error';
      const message = 'This rule could not be computed for the target.';
      const evidence = error instanceof Error ? error.message : String(error);
      return [{ ...findingOf(rule, { path: '', message, evidence }), severity: 'critical' as const }];
    }
  });
  const findings = found.toSorted(byGravity);
  const score = scoreOf(findings);
  return {
    status,
    score,
    passed: status === 'completed' && score >= THRESHOLD,
    findings: findings.slice(0, MAX_FINDINGS),
    findingsOmitted: Math.max(0, findings.length - MAX_FINDINGS),
  };
}

/** To two decimals, which is as fine as the penalties are. */
function scoreOf(findings: readonly Finding[]): number {
  const broken = new Map(findings.map(({ ruleId, severity }) => [ruleId, PENALTIES[severity]]));
  const lost = [...broken.values()].reduce((sum, penalty) => sum + penalty, 0);
  return Math.max(0, Math.round((1 - lost) * 100) / 100);
}

function findingOf<Target>(
  { id, severity, suggestion }: Rule<Target>,
  { path, message, evidence }: Breach,
): Finding {
  return {
    ruleId: id,
    severity,
    path,
    message: cutText(message, MAX_MESSAGE),
    evidence: evidenceOf(evidence),
    suggestion,
  };
}

function evidenceOf(evidence: unknown): string | null {
  if (evidence === undefined || evidence === null) return null;
  return cutText(typeof evidence === 'string' ? evidence : JSON.stringify(evidence), MAX_EVIDENCE);
}

function byGravity(a: Finding, b: Finding): number {
  return (
    FINDING_SEVERITIES.indexOf(a.severity) - FINDING_SEVERITIES.indexOf(b.severity) ||
    compare(a.ruleId, b.ruleId) ||
    compare(a.path, b.path) ||
    compare(a.message, b.message)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
