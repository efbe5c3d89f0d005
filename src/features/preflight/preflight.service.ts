import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { withComputed } from '../../platform/database/beforehand.js';
import { Db } from '../../platform/database/db.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { type Id, newId } from '../../platform/kernel/ids.js';
import { assertMayAsk, decidedActionOf, UNCHECKED } from '../action-requests/index.js';
import {
  ACTION_TYPES,
  CAPOS,
  engineOf,
  isActionType,
  type OutsideTargets,
  OutsideTargetsReader,
  titleOf,
  type ValidAction,
  validateAction,
} from '../capos/index.js';
import { PolicyPreview } from '../guardian/index.js';
import { strictness } from '../standing-orders/index.js';
import { CAPO_ROLES, type CapoRole, NO_COST } from '../terms/index.js';
import { factsOf, type ToolEntity, Tools, ToolsService } from '../tools/index.js';
import { TeamOfRequest, Tokens, Workspaces } from '../workspaces/index.js';
import { type AskedFor, packetFor, PreflightDirective, PreviewPackets } from './preflight-directive.js';
import type { PreflightActionBody, PreflightBody, PreflightRoute, PreflightView } from './preflight.dto.js';
import { type Preflight, preflightOf } from './preflight.js';

const PAUSED = 'The token of this agent is paused, so it cannot ask now.';

/** What would be decided if an agent from outside, or a member with a token of their own, asked for this call of a tool now. */
@Injectable()
export class PreflightTool {
  constructor(
    private readonly db: Db,
    private readonly tokens: Tokens,
    private readonly tools: Tools,
    private readonly toolsService: ToolsService,
    private readonly workspaces: Workspaces,
    private readonly preview: PolicyPreview,
  ) {}

  /** @throws ValidationFailed, or Forbidden for a tool that the token of the agent does not name */
  async execute(
    name: string,
    { params, agent = null }: PreflightActionBody,
    { teamId, caller }: Pick<AskedFor, 'teamId'> & { caller: Caller },
  ): Promise<PreflightView> {
    const { workspaceId } = caller;
    const [[tool], [token], [{ currency }]] = (await this.db.readAll({ workspaceId, teamIds: 'all' }, [
      this.tools.readStatement(workspaceId, name),
      this.tokens.ofAgentStatement(workspaceId, agent),
      this.workspaces.currencyStatement(workspaceId),
    ])) as [[ToolEntity?], [{ tools: string[]; isPaused: boolean }?], [{ currency: string }]];
    if (agent !== null && !token) {
      const message = 'there is no agent with this name';
      throw new ValidationFailed({ details: [{ path: 'action.agent', rule: 'known', message }] });
    }
    assertMayAsk({ tools: token?.tools ?? null }, name);
    const checked = await withComputed(async () =>
      this.toolsService.checkParams(tool, params, actorOf(caller)),
    );
    const asked = { actionRequestId: newId('act'), teamId, agent, tool: name };
    const packet = decidedActionOf(asked, params, { tool, currency });
    const { guardian, decisions } = await this.preview.of(workspaceId, [{ ...packet, workPacketId: null }]);
    const { title } = factsOf(tool, params, name);
    return preflightOf({
      route: { capo: null, routedBy: 'operator', candidates: [], reason: 'An agent from outside asks.' },
      guardian,
      previewed: decisions.map(({ decision }) => ({
        packet: { title, type: name, target: null, reversibility: packet.reversibility, needsInput: [] },
        decision: checked === 'timeout' ? { ...decision, ...UNCHECKED } : decision,
      })),
      reasons: [],
      estimatedCost: NO_COST,
      warnings: token?.isPaused ? [PAUSED] : [],
    });
  }
}

/** An action of ours, as a work packet would have it. */
type ProposedAction = Required<Pick<PreflightActionBody, 'type' | 'params'>>;

/** What would come of a directive, of an action of a capo, or of a call that an agent from outside asks for. */
@Injectable()
export class PreflightService {
  constructor(
    private readonly teamOfRequest: TeamOfRequest,
    private readonly targets: OutsideTargetsReader,
    private readonly previewPackets: PreviewPackets,
    private readonly preflightDirective: PreflightDirective,
    private readonly preflightTool: PreflightTool,
  ) {}

  /**
   * Answers the likely outcome, to callers who may act.
   * @throws NotFound for a team that the caller may not see, Forbidden, ValidationFailed
   */
  async ask(caller: Caller, body: PreflightBody): Promise<PreflightView> {
    // JSON says null where it means nothing, so null counts as left out.
    const { directive = null, action = null, context } = body;
    const teamId = await this.teamOfRequest.resolve(caller, body.teamId);
    requireRole(caller, teamId, 'operator');
    const asked = {
      workspaceId: caller.workspaceId,
      teamId: teamId as Id<'team'> | null,
      capo: body.capo ?? null,
      priority: body.priority ?? 'medium',
    } as const;
    if (action !== null && directive === null) {
      assertOneKind(body, action);
      const { tool, type, params } = action;
      return tool
        ? this.preflightTool.execute(tool, action, { teamId: asked.teamId, caller })
        : this.action({ type: type!, params }, asked);
    }
    if (directive !== null && action === null) {
      const by = actorOf(caller);
      return this.preflightDirective.execute({ ...asked, text: directive, context: context ?? {}, by });
    }
    const message = 'give either a directive or an action';
    throw new ValidationFailed({ details: [{ path: '', rule: 'oneOf', message }] });
  }

  /**
   * What would be decided about an action if a capo proposed it now.
   * @throws ValidationFailed with the paths at which the registry refuses the action
   */
  private async action(given: ProposedAction, asked: AskedFor): Promise<PreflightView> {
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

/** No capo uses the tools of agents from outside, and no agent does what a capo does. @throws ValidationFailed */
function assertOneKind({ capo, priority }: PreflightBody, { tool, type, agent }: PreflightActionBody): void {
  const ofOthers = tool ? { 'action.type': type, capo, priority } : { 'action.agent': agent };
  const misplaced = Object.keys(ofOthers).filter((path) => ofOthers[path as keyof typeof ofOthers]);
  const paths = tool || type ? misplaced : ['action'];
  if (paths.length === 0) return;
  const message = 'give a type, which a capo does with a priority, or a tool, which an agent asks for';
  throw new ValidationFailed({ details: paths.map((path) => ({ path, rule: 'oneOf', message })) });
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
