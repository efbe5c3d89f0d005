import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import type { Id } from '../../platform/kernel/ids.js';
import { Members, KnownZone, Workspaces } from '../workspaces/index.js';
import { ActionReversibility, OrderTools } from './order-tools.js';
import { ruleFaults } from './rule-faults.js';
import type { OrderWhen, StandingOrderRule } from './standing-order.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import type { CreateStandingOrderBody } from './standing-orders.dto.js';

/** The part of a body that decides. */
export type RuleOfBody = Pick<
  CreateStandingOrderBody,
  'capos' | 'effect' | 'match' | 'when' | 'limits' | 'budget' | 'approval' | 'expiresAt'
>;

/** What orders ask of zones; each answer is looked up once for all orders that are read together. */
export interface ZoneLookUps {
  /** @throws ValidationFailed for one that the database does not know */
  require(zone: string | null | undefined): Promise<void>;
  ofWorkspace(): Promise<string>;
}

/** Makes the rule of a new order, or of a new version of one, from what somebody wrote. */
@Injectable()
export class StandingOrderRules {
  constructor(
    private readonly actions: ActionReversibility,
    private readonly tools: OrderTools,
    private readonly workspaces: Workspaces,
    private readonly knownZone: KnownZone,
    private readonly members: Members,
    private readonly clock: Clock,
  ) {}

  /** @throws ValidationFailed for a rule that could never apply */
  async of(
    scope: Scope,
    teamId: Id<'team'> | null,
    body: RuleOfBody,
    zones = this.lookUps(scope),
  ): Promise<StandingOrderRule> {
    const { capos = null, effect, match, when = null, limits = null, budget = null, approval = null } = body;
    const { expiresAt = null } = body;
    await zones.require(when?.timezone);
    const inZone = when && (await this.inZone(when, zones));
    const rule = { teamId, capos, effect, match, when: inZone, limits, budget, approval, expiresAt };
    const at = this.clock.now();
    const toolParameters = await this.tools.parameters(scope.workspaceId, match);
    const faults =
      expiresAt !== null && expiresAt <= at
        ? [EXPIRED]
        : ruleFaults(rule, this.actions.known(), at, toolParameters);
    if (faults.length === 0) faults.push(...(await this.electorateFaults(scope, rule)));
    if (faults.length > 0) throw new ValidationFailed({ details: faults });
    return rule;
  }

  /** What the answer says of names that stand for nothing yet; nothing where there are none. */
  async warnings({ workspaceId, match }: Pick<StandingOrderEntity, 'workspaceId' | 'match'>) {
    const warnings = await this.tools.warnings(workspaceId, match);
    return warnings.length > 0 ? { warnings } : {};
  }

  /** Refuses an order whose quorum or approvers cannot be met now. MissingApprovers notices members who leave later. */
  private async electorateFaults(scope: Scope, { teamId, approval }: StandingOrderRule): Promise<Fault[]> {
    const { quorum, approvers } = approval ?? {};
    if (!approvers && (quorum ?? 1) === 1) return [];
    const memberIds = approvers?.memberIds ?? [];
    const named = approvers ? [{ roles: approvers.roles ?? [], memberIds }] : [];
    const able = await this.members.approvers(scope, teamId, named);
    const unable = memberIds.flatMap((memberId, index) =>
      able.some((ids) => ids.includes(memberId))
        ? []
        : {
            path: `approval.approvers.memberIds.${index}`,
            rule: 'mayApprove',
            message: `${memberId} is not an active member who may approve this`,
          },
    );
    const most = Math.max(...able.map(({ length }) => length));
    if (unable.length > 0 || most >= (quorum ?? 1)) return unable;
    const who = `${most === 1 ? '1 member' : `${most} members`} may approve this`;
    return [
      quorum && quorum > 1
        ? {
            path: 'approval.quorum',
            rule: 'isReachable',
            message: `quorum is ${quorum}, but only ${who}`,
          }
        : { path: 'approval.approvers', rule: 'isReachable', message: `${who} with these approvers` },
    ];
  }

  /** For orders that are read together. */
  lookUps(scope: Scope): ZoneLookUps {
    const required = new Map<string, Promise<void>>();
    let own: Promise<string> | undefined;
    return {
      require: async (zone) => {
        if (zone === null || zone === undefined) return;
        const asked = required.get(zone) ?? this.knownZone.require(zone, 'when.timezone');
        required.set(zone, asked);
        await asked;
      },
      ofWorkspace: () => (own ??= this.workspaces.settings(scope).then(({ timezone }) => timezone)),
    };
  }

  /** A window keeps the zone it was meant in, whatever the workspace's becomes. */
  private async inZone(when: OrderWhen, zones: ZoneLookUps): Promise<OrderWhen> {
    if (when.timezone || !(when.days || when.from || when.to)) return when;
    return { ...when, timezone: await zones.ofWorkspace() };
  }
}

const EXPIRED: Fault = {
  path: 'expiresAt',
  rule: 'isAhead',
  message: 'expiresAt must be a time in the future',
};
