import { Injectable } from '@nestjs/common';
import { CAPO_ROLES, type CapoRole, isToolPattern, type Reversibility } from '../terms/index.js';
import { parametersOf, type ToolEntity, Tools } from '../tools/index.js';
import { Tokens } from '../workspaces/index.js';
import type { KnownActions } from './rule-faults.js';
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

/** What an order needs to know of an action type. */
interface ActionFacts {
  /** How far its work packets can be undone; where it depends on what they reach, every class that they may have. */
  classes: readonly Reversibility[];
  /** Who can make such a work packet. */
  engines: readonly string[];
  params: { shape: object };
}

/**
 * How far each action type can be undone, and what it takes. The registry of action types belongs to the capos, a higher feature; it is
 * registered here when the application starts.
 */
@Injectable()
export class ActionReversibility {
  #types: Readonly<Record<string, ActionFacts>> | undefined;
  #engineOf: (capo: CapoRole) => string = () => '';

  register(types: Readonly<Record<string, ActionFacts>>, engineOf: (capo: CapoRole) => string): void {
    this.#types = types;
    this.#engineOf = engineOf;
  }

  /** What an order may ask for: every type, with the names of its parameters. */
  known(): KnownActions {
    return Object.fromEntries(
      Object.entries(this.types()).map(([name, { classes, engines, params }]) => [
        name,
        {
          classes,
          capos: CAPO_ROLES.filter((capo) => engines.includes(this.#engineOf(capo))),
          parameters: Object.keys(params.shape),
        },
      ]),
    );
  }

  /** The classes of the types that one of these capos can use, null stands for every capo, and of these tools. */
  within(
    capos: readonly CapoRole[] | null,
    tools: readonly { name: string; reversibility: Reversibility }[] = [],
  ): Record<string, readonly Reversibility[]> {
    const engines = capos?.map((capo) => this.#engineOf(capo));
    return Object.fromEntries([
      ...Object.entries(this.types())
        .filter(([, type]) => !engines || type.engines.some((engine) => engines.includes(engine)))
        .map(([name, { classes }]) => [name, classes]),
      ...tools.map(({ name, reversibility }) => [name, [reversibility]]),
    ]);
  }

  private types(): Readonly<Record<string, ActionFacts>> {
    // Without a registry an order for every type would seem to allow nothing that is final.
    if (!this.#types) throw new Error('no action types are registered');
    return this.#types;
  }
}

/** By their whole names, not by a prefix. */
function toolsNamed({ actionTypes }: OrderMatch): string[] {
  return (actionTypes ?? []).filter((name) => isToolPattern(name) && !name.endsWith('.*'));
}
