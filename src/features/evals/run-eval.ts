import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { isCapoRole } from '../capos/index.js';
import { StandingOrders } from '../standing-orders/index.js';
import { TeamOfRequest } from '../workspaces/index.js';
import { type EvalSubject, KIND_OF, orderSubject, packetSubject, skillSubject } from './eval-subject.js';
import { viewOf } from './eval-runs.repository.js';
import type { EvalRunView, RunEvalBody } from './evals.dto.js';
import { InstalledSkills } from './installed-skills.js';
import { RecordEval } from './record-eval.js';
import { EVAL_KINDS } from './rule.js';
import { SafetyTargets } from './safety-targets.js';
import { SoundnessTargets } from './soundness-targets.js';

/** Holds a target against the rules of its kind, because somebody asks for it. */
@Injectable()
export class RunEval {
  constructor(
    private readonly orders: StandingOrders,
    private readonly safetyTargets: SafetyTargets,
    private readonly soundnessTargets: SoundnessTargets,
    private readonly teamOfRequest: TeamOfRequest,
    private readonly installedSkills: InstalledSkills,
    private readonly recordEval: RecordEval,
  ) {}

  /** @throws NotFound for a target that is missing or that the caller may not see, Forbidden, ValidationFailed */
  async execute(caller: Caller, body: RunEvalBody): Promise<EvalRunView> {
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
    return orderSubject(order, await this.safetyTargets.of(order));
  }

  private async packet(caller: Caller, workPacketId: string) {
    const target = await this.soundnessTargets.get(scopeOf(caller), workPacketId);
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
