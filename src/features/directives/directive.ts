import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { cutText } from '../../platform/kernel/text.js';
import type { ApprovalOutput } from '../approvals/index.js';
import {
  type Action,
  type Draft,
  type DraftingState,
  bodyOf,
  summaryOf as summaryOfActions,
} from '../capos/index.js';
import type { Cost } from '../terms/index.js';
import type { DirectiveSummary, DirectiveView } from './directives.dto.js';
import type { DirectiveEntity } from './directive.entity.js';
import type { ListedDirective } from './directives.repository.js';

/** One line that names the directive in lists and receipts. */
export function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0]!.replace(/\s+/g, ' ');
  return cutText(line, 120);
}

/** The draft as a person reads it, made from its work packets; the runner's own words stand beside it. */
export function outputOf(
  { engine, remarks }: Pick<Draft, 'engine' | 'remarks'>,
  actions: readonly Action[],
): ApprovalOutput {
  const body = bodyOf(actions);
  return {
    summary: summaryOfActions(actions),
    format: 'markdown',
    body,
    contentHash: sha256(canonicalJson({ body })),
    remarks: remarks.trim() === '' ? null : { engine, text: remarks },
  };
}

/** The cost of all drafts of a directive so far, to a millionth as each of them. */
export function addCost(a: Cost, b: Cost): Cost {
  return {
    amount: Number((a.amount + b.amount).toFixed(6)),
    currency: b.currency,
    tokensIn: a.tokensIn + b.tokensIn,
    tokensOut: a.tokensOut + b.tokensOut,
  };
}

export function viewOf(
  directive: DirectiveEntity,
  drafting: DraftingState | null,
  throttledUntil: number | null = null,
): DirectiveView {
  return {
    ...factsOf(directive),
    directive: directive.text,
    routing: directive.routing,
    context: directive.context,
    output: directive.output,
    drafting,
    throttledUntil,
    history: directive.history,
  };
}

export function summaryOf(directive: ListedDirective): DirectiveSummary {
  return { ...factsOf(directive), title: titleOf(directive.text) };
}

function factsOf(directive: ListedDirective): Omit<DirectiveSummary, 'title'> {
  return {
    directiveId: directive.directiveId,
    capo: directive.capo,
    routedBy: directive.routedBy,
    priority: directive.priority,
    requiresApproval: directive.requiresApproval,
    deadline: directive.deadline === null ? null : new Date(directive.deadline).toISOString(),
    teamId: directive.teamId,
    status: directive.status,
    approvalId: directive.approvalId,
    workPacketIds: directive.workPacketIds,
    engine: directive.engine,
    cost: directive.cost,
    error: directive.error,
    createdBy: directive.createdBy,
    schedule:
      directive.scheduleId === null
        ? null
        : { scheduleId: directive.scheduleId, dueAt: directive.scheduledFor },
    createdAt: directive.createdAt,
    startedAt: directive.startedAt,
    executedAt: directive.executedAt,
  };
}
