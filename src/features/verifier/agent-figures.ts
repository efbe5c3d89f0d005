import { storable } from '../../platform/kernel/text.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';

/** How many requests had each outcome; one request can have several. */
export const NO_ACTIONS = {
  allowed: 0,
  approved: 0,
  denied: 0,
  rejected: 0,
  completed: 0,
  failed: 0,
  unconfirmed: 0,
};

/** By the action of the receipt. */
const OUTCOMES = {
  'action.allowed': 'allowed',
  'approval.approved': 'approved',
  'action.denied': 'denied',
  'approval.rejected': 'rejected',
  'action.completed': 'completed',
  'action.failed': 'failed',
  'action.unconfirmed': 'unconfirmed',
} as const satisfies Record<string, keyof typeof NO_ACTIONS>;

export const ACTIONS_OF_AGENTS = Object.keys(OUTCOMES) as (keyof typeof OUTCOMES)[];

const MOST_TOOLS = 20;
/** No name of a tool: what an agent asked for beyond its first {@link MOST_TOOLS} tools. */
const OTHER_TOOLS = 'other tools';

/** What became of the requests of an agent from outside for one tool. */
export type ReportedAgent = typeof NO_ACTIONS & {
  name: string;
  tool: string;
  /** The one that the newest of these receipts is about. */
  actionRequestId: string;
};

/** Counts by agent and tool what became of requests of agents from outside. */
export class FiguresOfAgents {
  readonly #byAgent = new Map<string, Map<string, ReportedAgent>>();

  receipt({ action, details, entity }: Pick<ReceiptContent, 'action' | 'details' | 'entity'>): void {
    const { agent, tool, again } = details;
    if (!Object.hasOwn(OUTCOMES, action) || typeof agent !== 'string' || typeof tool !== 'string') return;
    // What an order allowed is decided again when it is consumed.
    if (again === true) return;
    const name = storable(agent);
    const ofAgent = this.#byAgent.get(name) ?? new Map<string, ReportedAgent>();
    // The names of tools are the agent's own words.
    const group = ofAgent.has(storable(tool)) || ofAgent.size < MOST_TOOLS ? storable(tool) : OTHER_TOOLS;
    const counts = ofAgent.get(group) ?? { name, tool: group, ...NO_ACTIONS };
    const outcome = OUTCOMES[action as keyof typeof OUTCOMES];
    const actionRequestId = storable(details['actionRequestId'] ?? entity.id);
    ofAgent.set(group, { ...counts, [outcome]: counts[outcome] + 1, actionRequestId });
    this.#byAgent.set(name, ofAgent);
  }

  all(): ReportedAgent[] {
    return [...this.#byAgent.values()]
      .flatMap((ofAgent) => [...ofAgent.values()])
      .toSorted((a, b) => (`${a.name} ${a.tool}` < `${b.name} ${b.tool}` ? -1 : 1));
  }
}
