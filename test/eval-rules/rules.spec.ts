import { describe, expect, it } from 'vitest';
import { assess, MAX_FINDINGS, type Rule } from '../../src/features/evals/rule.js';
import { SAFETY_RULES } from '../../src/features/evals/safety-rules.js';
import { SKILL_RULES } from '../../src/features/evals/skill-rules.js';
import { SOUNDNESS_RULES } from '../../src/features/evals/soundness-rules.js';
import { type Cases, ORDERS, SAFE, target } from './corpus-orders.js';
import { candidate, PACKETS, SOUND_OUTSIDE } from './corpus-packets.js';
import { SKILLS } from './corpus-skills.js';

function describeRules<Target>(
  kind: string,
  rules: readonly Rule<Target>[],
  corpus: Record<string, Cases<Target>>,
) {
  const ruleIds = (each: Target) => [...new Set(assess(rules, each).findings.map(({ ruleId }) => ruleId))];

  describe.each([kind])('%s', () => {
    it('has cases for each rule, and no rule twice', () => {
      expect(Object.keys(corpus).toSorted()).toEqual(rules.map(({ id }) => id).toSorted());
      expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    });

    it('has a reason and a suggestion for each rule, in sentences', () => {
      for (const { id, reason, suggestion } of rules) {
        expect(reason, id).toMatch(/^[A-Z].*\.$/s);
        expect(suggestion, id).toMatch(/^[A-Z].*\.$/s);
      }
    });

    describe.each(Object.entries(corpus))('%s', (id, { found, missed }) => {
      it.each(Object.entries(found))('finds %s, and nothing else does', (_name, each) => {
        const { findings, status } = assess(rules, each);
        expect(status).toBe('completed');
        expect(ruleIds(each), JSON.stringify(findings)).toEqual([id]);
        for (const finding of findings) expect(finding.message).toMatch(/^\S.*\.$/s);
      });

      it.each(Object.entries(missed))('finds nothing in %s', (_name, each) => {
        expect(ruleIds(each)).not.toContain(id);
      });
    });
  });
}

describeRules('standing_order_safety', SAFETY_RULES, ORDERS);
describeRules('workflow_candidate_soundness', SOUNDNESS_RULES, PACKETS);
describeRules('skill_definition_syntax', SKILL_RULES, SKILLS);

describe('a work packet that reaches something outside', () => {
  it.each(Object.entries(SOUND_OUTSIDE))('is sound: %s', (_name, each) => {
    expect(assess(SOUNDNESS_RULES, each)).toMatchObject({ status: 'completed', score: 1, findings: [] });
  });
});

describe('an assessment', () => {
  const rule = (id: string, severity: Rule<number>['severity'], breaches: number): Rule<number> => ({
    id,
    severity,
    reason: 'It matters.',
    suggestion: 'Do it.',
    check: () =>
      Array.from({ length: breaches }, (_, n) => ({
        path: `p${String(n).padStart(3, '0')}`,
        message: 'No.',
      })),
  });

  it('gives a target without a finding the full score', () => {
    expect(assess(SAFETY_RULES, target())).toEqual({
      status: 'completed',
      score: 1,
      passed: true,
      findings: [],
      findingsOmitted: 0,
    });
    expect(assess(SOUNDNESS_RULES, candidate()).score).toBe(1);
  });

  it.each<[string, [Rule<number>['severity'], number][], number, boolean]>([
    ['one critical rule', [['critical', 1]], 0.5, false],
    ['one critical rule, however often', [['critical', 7]], 0.5, false],
    [
      'two warnings',
      [
        ['warning', 1],
        ['warning', 3],
      ],
      0.8,
      true,
    ],
    [
      'three warnings',
      [
        ['warning', 1],
        ['warning', 1],
        ['warning', 1],
      ],
      0.7,
      false,
    ],
    ['ten remarks', Array.from({ length: 10 }, () => ['info', 1] as const) as never, 0.9, true],
    [
      'three critical rules',
      [
        ['critical', 1],
        ['critical', 1],
        ['critical', 1],
      ],
      0,
      false,
    ],
  ])('scores %s', (_name, broken, score, passed) => {
    const rules = broken.map(([severity, breaches], index) => rule(`r${index}`, severity, breaches));
    expect(assess(rules, 0)).toMatchObject({ score, passed });
  });

  it('lists the gravest first, then by rule and path, at most a hundred, and counts the rest', () => {
    const { findings, findingsOmitted } = assess(
      [rule('b', 'info', 1), rule('c', 'warning', 2), rule('a', 'warning', 99)],
      0,
    );
    expect(findings).toHaveLength(MAX_FINDINGS);
    expect(findingsOmitted).toBe(2);
    expect([findings[0]!.ruleId, findings[98]!.path, findings[99]!.ruleId]).toEqual(['a', 'p098', 'c']);
  });

  it('never passes what a rule could not look at', () => {
    const broken: Rule<number> = {
      ...rule('broken', 'info', 0),
      check: () => {
        throw new Error('out of bounds');
      },
    };
    expect(assess([broken, rule('b', 'info', 1)], 0)).toMatchObject({
      status: 'error',
      passed: false,
      findings: [{ ruleId: 'broken', severity: 'critical', evidence: 'out of bounds' }, { ruleId: 'b' }],
    });
  });

  it('cuts long evidence and messages between graphemes', () => {
    const long: Rule<number> = {
      ...rule('long', 'info', 0),
      check: () => [{ path: '', message: '👨‍👩‍👧‍👦'.repeat(200), evidence: ['👨‍👩‍👧‍👦'.repeat(200)] }],
    };
    const [finding] = assess([long], 0).findings;
    expect(finding!.message.length).toBeLessThanOrEqual(500);
    expect(finding!.evidence!.length).toBeLessThanOrEqual(300);
    expect(finding!.message.replaceAll('👨‍👩‍👧‍👦', '')).toBe('…');
  });

  it('is the same for the same target', () => {
    const given = target({ limits: null, expiresAt: null, capos: null });
    expect(assess(SAFETY_RULES, given)).toEqual(assess(SAFETY_RULES, structuredClone(given)));
    expect(SAFE.standingOrderId).toBe('so_1');
  });
});
