import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { withComputed } from '../../platform/database/beforehand.js';
import { Db } from '../../platform/database/db.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { UNCHECKED, assertMayAsk, decidedActionOf } from '../action-requests/index.js';
import { PolicyPreview } from '../guardian/index.js';
import { NO_COST } from '../terms/index.js';
import { factsOf, type ToolEntity, Tools, ToolsService } from '../tools/index.js';
import { Tokens, Workspaces } from '../workspaces/index.js';
import { preflightOf } from './preflight.js';
import type { PreflightActionBody, PreflightView } from './preflight.dto.js';
import type { AskedFor } from './preflight-directive.js';

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
