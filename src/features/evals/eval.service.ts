import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Actor, actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { cutText } from '../../platform/kernel/text.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { isCapoRole } from '../capos/index.js';
import {
  ActivationChecks,
  type ActivationFinding,
  type StandingOrderEntity,
  StandingOrders,
  tightens,
} from '../standing-orders/index.js';
import { TeamOfRequest } from '../workspaces/index.js';
import type { EvalOccasion, EvalRunEntity } from './eval-run.entity.js';
import { EvalRuns, viewOf } from './eval-runs.repository.js';
import {
  type EvalSubject,
  EvalTargets,
  KIND_OF,
  orderSubject,
  packetSubject,
  skillSubject,
} from './eval-subject.js';
import type { EvalRunView, RunEvalBody } from './evals.dto.js';
import { assess, EVAL_KINDS, FINDING_SEVERITIES, THRESHOLD } from './rule.js';
import type { SkillTarget } from './skill-rules.js';

/** Why a run exists, and what it is called. */
interface EvalReason {
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

type Find = (scope: Scope, name: string) => Promise<object | undefined>;

/** The skills of the workspace's packs, by name. They belong to a higher feature, which registers. */
@Injectable()
export class InstalledSkills {
  #find: Find | undefined;

  register(find: Find): void {
    this.#find = find;
  }

  async find(scope: Scope, name: string): Promise<SkillTarget | undefined> {
    if (!this.#find) throw new Error('no skill packs have registered');
    const skill = await this.#find(scope, name);
    return skill && { ...skill };
  }
}

/** So many rules are spoken of where the order says why it stays a draft; all findings stand in the run. */
const SAID = 3;

/** As the name of a run that somebody asks for. */
const MAX_NAME = 120;

/** Evals that somebody asks for, and those of orders that are about to become active. */
@Injectable()
export class EvalService implements OnModuleInit {
  constructor(
    private readonly orders: StandingOrders,
    private readonly targets: EvalTargets,
    private readonly teamOfRequest: TeamOfRequest,
    private readonly installedSkills: InstalledSkills,
    private readonly recordEval: RecordEval,
    private readonly checks: ActivationChecks,
  ) {}

  onModuleInit(): void {
    this.checks.register((order, by) => this.check(order, by));
  }

  /**
   * Holds a target against the rules of its kind, because somebody asks for it.
   * @throws NotFound for a target that is missing or that the caller may not see, Forbidden, ValidationFailed
   */
  async run(caller: Caller, body: RunEvalBody): Promise<EvalRunView> {
    assertFits(body);
    const run = { name: body.name, occasion: 'request', by: actorOf(caller) } as const;
    return viewOf(this.recordEval.execute(await this.subject(caller, body), run));
  }

  private subject(caller: Caller, body: RunEvalBody): Promise<EvalSubject<never>> {
    switch (body.targetEntityType) {
      case 'standing_order':
        return this.order(caller, body.targetEntityId) as Promise<EvalSubject<never>>;
      case 'workflow_candidate':
        return this.packet(caller, body.targetEntityId) as Promise<EvalSubject<never>>;
      case 'skill':
        return this.skill(caller, body) as Promise<EvalSubject<never>>;
    }
  }

  private async order(caller: Caller, standingOrderId: string) {
    const order = await this.orders.get(scopeOf(caller), standingOrderId);
    requireRole(caller, order.teamId, 'operator');
    return orderSubject(order, await this.targets.order(order));
  }

  private async packet(caller: Caller, workPacketId: string) {
    const target = await this.targets.packet(scopeOf(caller), workPacketId);
    requireRole(caller, target.packet.teamId, 'operator');
    return packetSubject(target);
  }

  /** One of an installed pack, which is the whole workspace's, or the definition that the request brings. */
  private async skill(caller: Caller, { targetEntityId, definition: brought, teamId: asked }: RunEvalBody) {
    const definition = brought ?? (await this.installedSkills.find(scopeOf(caller), targetEntityId));
    if (!definition) throw new NotFound();
    const teamId = brought ? await this.teamOfRequest.resolve(caller, asked) : null;
    requireRole(caller, teamId, 'operator');
    const { capo } = definition;
    return skillSubject(targetEntityId, definition, { teamId, capo: isCapoRole(capo) ? capo : null });
  }

  /**
   * Looks at the safety of an order that is about to become active. An order that allows and does not pass waits for an owner.
   * One that tightens never does: a denial that waits protects nobody.
   */
  private async check(order: StandingOrderEntity, by: Actor): Promise<ActivationFinding> {
    const run = this.recordEval.execute(orderSubject(order, await this.targets.order(order)), {
      name: cutText(`Activation of "${order.name}"`, MAX_NAME),
      occasion: 'activation',
      by,
    });
    const { evalRunId, passed } = run;
    return { objections: passed || tightens(order) ? [] : [objectionOf(run)], evalRunId };
  }
}

/** What a request says twice must agree. */
function assertFits({ name, targetEntityType, definition, teamId }: RunEvalBody): void {
  const kind = KIND_OF[targetEntityType];
  const faults = [
    ...(EVAL_KINDS.some((each) => each === name) && name !== kind
      ? [{ path: 'name', rule: 'fitsTarget', message: `${name} is another kind of eval than ${kind}` }]
      : []),
    ...(targetEntityType === 'skill'
      ? []
      : Object.entries({ definition, teamId }).flatMap(([path, value]) =>
          value === undefined || value === null
            ? []
            : [{ path, rule: 'onlyForSkill', message: `${path} is only for a skill that is not installed` }],
        )),
  ];
  if (faults.length > 0) throw new ValidationFailed({ details: faults });
}

function objectionOf({ score, threshold, findings }: EvalRunEntity): string {
  // Once for each rule: twenty orders that say the same are one reason.
  const firsts = findings.filter(
    ({ ruleId }, at) => findings.findIndex((one) => one.ruleId === ruleId) === at,
  );
  const said = firsts.slice(0, SAID).map(({ message }) => message);
  return `Its safety eval gave ${score} where ${threshold} is needed: ${said.join(' ')}`;
}
