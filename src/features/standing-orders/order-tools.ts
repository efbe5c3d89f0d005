import { Injectable } from '@nestjs/common';
import { isToolPattern } from '../terms/index.js';
import { parametersOf, type ToolEntity, Tools } from '../tools/index.js';
import { Tokens } from '../workspaces/index.js';
import type { OrderMatch } from './standing-order.js';

/** What is registered of the tools and agents that orders name. */
@Injectable()
export class OrderTools {
  constructor(
    private readonly tools: Tools,
    private readonly tokens: Tokens,
  ) {}

  /** The active tools among those that these orders name: nobody has vouched for what any other says of itself. */
  async active(workspaceId: string, matches: readonly OrderMatch[]): Promise<ToolEntity[]> {
    const tools = await this.tools.named(workspaceId, matches.flatMap(toolsNamed));
    return tools.filter(({ status }) => status === 'active');
  }

  /** The parameters of each tool of an order that names registered tools and nothing else; undefined where they are not all known. */
  async parameters(workspaceId: string, match: OrderMatch): Promise<string[][] | undefined> {
    const names = toolsNamed(match);
    if (!match.fields || names.length === 0 || names.length < match.actionTypes!.length) return undefined;
    const tools = await this.tools.named(workspaceId, names);
    const known = tools.flatMap((tool) => {
      const parameters = parametersOf(tool);
      return parameters ? [parameters] : [];
    });
    return known.length === new Set(names).size ? known : undefined;
  }

  /** The names that stand for nothing yet, each in a sentence. */
  async warnings(workspaceId: string, match: OrderMatch): Promise<string[]> {
    const names = toolsNamed(match);
    const agents = match.agents ?? [];
    const tools = (await this.tools.named(workspaceId, names)).map(({ name }) => name);
    const known = agents.length > 0 ? await this.tokens.agentsNamed(workspaceId, agents) : [];
    return [
      ...names
        .filter((name) => !tools.includes(name))
        .map((name) => `No tool ${name} is registered, so the conditions on its parameters are not checked.`),
      ...agents
        .filter((name) => !known.includes(name))
        .map((name) => `No agent ${name} has a valid token, so nothing matches its name now.`),
    ];
  }
}

/** By their whole names, not by a prefix. */
function toolsNamed({ actionTypes }: OrderMatch): string[] {
  return (actionTypes ?? []).filter((name) => isToolPattern(name) && !name.endsWith('.*'));
}
