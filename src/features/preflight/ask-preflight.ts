import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import type { Id } from '../../platform/kernel/ids.js';
import { TeamOfRequest } from '../workspaces/index.js';
import { PreflightAction } from './preflight-action.js';
import type { PreflightActionBody, PreflightBody, PreflightView } from './preflight.dto.js';
import { PreflightDirective } from './preflight-directive.js';
import { PreflightTool } from './preflight-tool.js';

/** Answers the likely outcome, to callers who may act. */
@Injectable()
export class AskPreflight {
  constructor(
    private readonly teamOfRequest: TeamOfRequest,
    private readonly preflightAction: PreflightAction,
    private readonly preflightDirective: PreflightDirective,
    private readonly preflightTool: PreflightTool,
  ) {}

  /** @throws NotFound for a team that the caller may not see, Forbidden, ValidationFailed */
  async execute(caller: Caller, body: PreflightBody): Promise<PreflightView> {
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
        : this.preflightAction.execute({ type: type!, params }, asked);
    }
    if (directive !== null && action === null) {
      const by = actorOf(caller);
      return this.preflightDirective.execute({ ...asked, text: directive, context: context ?? {}, by });
    }
    const message = 'give either a directive or an action';
    throw new ValidationFailed({ details: [{ path: '', rule: 'oneOf', message }] });
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
