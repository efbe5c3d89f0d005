import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { cutText } from '../../platform/kernel/text.js';
import {
  ActivationChecks,
  type ActivationFinding,
  type StandingOrderEntity,
  tightens,
} from '../standing-orders/index.js';
import type { EvalRunEntity } from './eval-run.entity.js';
import { orderSubject } from './eval-subject.js';
import { RecordEval } from './record-eval.js';
import { SafetyTargets } from './safety-targets.js';

/** So many rules are spoken of where the order says why it stays a draft; all findings stand in the run. */
const SAID = 3;
/** As the name of a run that somebody asks for. */
const MAX_NAME = 120;

/**
 * Looks at the safety of an order that is about to become active. An order that allows and does not pass waits for an owner.
 * One that tightens never does: a denial that waits protects nobody.
 */
@Injectable()
export class SafetyOfActivation implements OnModuleInit {
  constructor(
    private readonly checks: ActivationChecks,
    private readonly safetyTargets: SafetyTargets,
    private readonly recordEval: RecordEval,
  ) {}

  onModuleInit(): void {
    this.checks.register((order, by) => this.check(order, by));
  }

  private async check(order: StandingOrderEntity, by: Actor): Promise<ActivationFinding> {
    const run = this.recordEval.execute(orderSubject(order, await this.safetyTargets.of(order)), {
      name: cutText(`Activation of "${order.name}"`, MAX_NAME),
      occasion: 'activation',
      by,
    });
    const { evalRunId, passed } = run;
    return { objections: passed || tightens(order) ? [] : [objectionOf(run)], evalRunId };
  }
}

function objectionOf({ score, threshold, findings }: EvalRunEntity): string {
  // Once for each rule: twenty orders that say the same are one reason.
  const firsts = findings.filter(
    ({ ruleId }, at) => findings.findIndex((one) => one.ruleId === ruleId) === at,
  );
  const said = firsts.slice(0, SAID).map(({ message }) => message);
  return `Its safety eval gave ${score} where ${threshold} is needed: ${said.join(' ')}`;
}
