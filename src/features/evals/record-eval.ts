import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { EvalOccasion, EvalRunEntity } from './eval-run.entity.js';
import { EvalRuns } from './eval-runs.repository.js';
import type { EvalSubject } from './eval-subject.js';
import { assess, FINDING_SEVERITIES, THRESHOLD } from './rule.js';

/** Why a run exists, and what it is called. */
export interface EvalReason {
  name: string;
  occasion: EvalOccasion;
  by: Actor;
}

/** Holds a target against its rules, and keeps what came of it: the run and its receipt, in the open transaction. */
@Injectable()
export class RecordEval {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly runs: EvalRuns,
    private readonly receipts: Receipts,
  ) {}

  execute<Target>(subject: EvalSubject<Target>, { name, occasion, by }: EvalReason): EvalRunEntity {
    const { kind, entityType, entityId, version, teamId, directiveId, capo, called, rules, target } = subject;
    const began = performance.now();
    const { findings, ...assessment } = assess(rules, target);
    const durationMs = Number((performance.now() - began).toFixed(2));
    const { status, score, passed, findingsOmitted } = assessment;
    const evalRunId = newId('evl');
    const receiptId = this.receipts.append({
      actor: by,
      action: 'eval.run',
      entity: { type: 'eval_run', id: evalRunId },
      directiveId,
      teamId,
      capo,
      summary: `${by.name} ran the eval "${name}" on ${called}: it ${passed ? 'passed' : 'did not pass'}.`,
      details: {
        kind,
        occasion,
        target: { type: entityType, id: entityId, version },
        status,
        score,
        threshold: THRESHOLD,
        passed,
        found: Object.fromEntries(
          FINDING_SEVERITIES.map((each) => [
            each,
            findings.filter(({ severity }) => severity === each).length,
          ]),
        ),
        rules: [...new Set(findings.map(({ ruleId }) => ruleId))],
      },
    });
    const run: EvalRunEntity = {
      workspaceId: this.db.unit.scope.workspaceId,
      evalRunId,
      teamId,
      name,
      kind,
      targetEntityType: entityType,
      targetEntityId: entityId,
      targetVersion: version,
      occasion,
      status,
      score,
      threshold: THRESHOLD,
      passed,
      findings,
      findingsOmitted,
      durationMs,
      createdBy: by,
      createdAt: this.clock.now(),
      receiptId,
    };
    this.runs.add(run);
    return run;
  }
}
