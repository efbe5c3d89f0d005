import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import { actionContentHash, type ShownAction } from '../terms/action-hashes.js';

/** What does not agree with the receipts before it. */
export type ActionFaultKind =
  'outcome' | 'agent' | 'content' | 'permission' | 'voided' | 'twice' | 'params' | 'epoch' | 'result';

/** The message quotes nothing of a receipt. */
export interface ActionFault {
  kind: ActionFaultKind;
  seq: number;
  message: string;
}

type State = 'undecided' | 'allowed' | 'approved' | 'voided' | 'consumed';

/** An action request, as its receipts so far tell it. */
interface Followed {
  state: State;
  tool: unknown;
  agent: unknown;
  /** Of the parameters that were decided; undefined where an earlier version of the program did not tell it. */
  shown: ShownAction | undefined;
  approvalId: unknown;
  /** What the approval shows to whoever decides now, after edits. */
  contentHash: string | undefined;
}

const KEPT = 100;

/** What each act says that the policy decided. */
const OUTCOMES: Readonly<Record<string, string>> = {
  'action.allowed': 'allow',
  'action.denied': 'deny',
  'action.asked': 'require_approval',
  'action.throttled': 'throttle',
};
const ENDS = ['action.denied', 'action.cancelled', 'action.expired'];
const RESULTS = ['action.completed', 'action.failed'];

/**
 * Follows what agents from outside ask for through the receipts of a workspace: that nothing was consumed without a permission
 * that still held, nothing twice, nothing with other parameters than those decided or by another agent, and that no result came
 * of what was not consumed. Memory grows with what is open. Where receipts are missing, only what came after them is judged.
 */
export class ActionProof {
  consumed = 0;
  faultCount = 0;
  /** The first hundred. */
  readonly faults: ActionFault[] = [];
  readonly #requests = new Map<string, Followed>();
  readonly #byApproval = new Map<string, string>();
  #isWhole = true;
  #lastSeq = 0;
  #epoch: number | undefined;

  /** The next receipt. */
  receipt(seq: number, content: ReceiptContent): void {
    if (seq !== this.#lastSeq + 1) this.forget();
    else if (seq === 1) this.#epoch = 0;
    this.#lastSeq = seq;
    const { action } = content;
    if (action.startsWith('approval.')) this.approval(seq, content);
    else if (action.startsWith('guardian.')) this.guardian(content);
    else if (content.entity.type === 'action_request') this.request(seq, content);
  }

  private forget(): void {
    this.#isWhole = false;
    this.#requests.clear();
    this.#byApproval.clear();
    this.#epoch = undefined;
  }

  /** A kill voids what could be consumed, for good. */
  private guardian({ action, guardianEpoch }: ReceiptContent): void {
    this.#epoch = guardianEpoch ?? this.#epoch;
    if (action !== 'guardian.killed') return;
    for (const request of this.#requests.values()) {
      if (request.state === 'allowed' || request.state === 'approved') request.state = 'voided';
    }
  }

  private request(seq: number, content: ReceiptContent): void {
    const { action, entity, actor } = content;
    const request = Object.hasOwn(OUTCOMES, action)
      ? this.decided(seq, content)
      : this.#requests.get(entity.id);
    if (actor.type === 'agent' && request && actor.name !== request.agent) {
      this.fault('agent', seq, `Receipt ${seq} names another agent than the one that asked.`);
    }
    if (action === 'action.consumed') this.consume(seq, content, request);
    else if (RESULTS.includes(action)) this.result(seq, entity.id, request);
    if (request && ENDS.includes(action)) this.end(entity.id, request);
  }

  private decided(seq: number, { action, entity, details }: ReceiptContent): Followed | undefined {
    const decision = decisionIn(details);
    const before = this.#requests.get(entity.id);
    // Parameters that could not be checked are denied without a decision.
    if (!decision) return before;
    const { outcome, input } = decision;
    const { packet } = input;
    const { tool, fingerprint = null, paramsHash, approvalId } = details;
    const agent = packet.outside?.agent ?? null;
    if (outcome !== OUTCOMES[action] || packet.workPacketId !== entity.id || packet.actionType !== tool) {
      this.fault('outcome', seq, `Receipt ${seq} does not say what the decision in it says.`);
    }
    if (before && (agent !== before.agent || tool !== before.tool)) {
      this.fault('agent', seq, `Receipt ${seq} names another agent or tool than the request before.`);
    }
    const shown =
      typeof paramsHash === 'string' ? ({ tool, fingerprint, agent, paramsHash } as ShownAction) : undefined;
    const request: Followed = {
      state: outcome === 'allow' ? 'allowed' : 'undecided',
      tool,
      agent,
      shown,
      approvalId,
      contentHash: shown && approvedHashOf(shown),
    };
    this.#requests.set(entity.id, request);
    if (typeof approvalId === 'string') this.#byApproval.set(approvalId, entity.id);
    return request;
  }

  private approval(seq: number, { action, entity, details }: ReceiptContent): void {
    const id = this.#byApproval.get(entity.id);
    const request = id === undefined ? undefined : this.#requests.get(id);
    if (!request || request.approvalId !== entity.id) return;
    const { before, contentHash } = details;
    const read = action === 'approval.edited' ? before : contentHash;
    if (
      (action === 'approval.edited' || action === 'approval.approved') &&
      request.contentHash !== undefined
    ) {
      if (read !== request.contentHash) {
        this.fault('content', seq, `Receipt ${seq} is about another content than the approval showed then.`);
      }
    }
    if (action === 'approval.edited' && typeof contentHash === 'string') request.contentHash = contentHash;
    else if (action === 'approval.approved') request.state = 'approved';
    else if (action === 'approval.rejected' || action === 'approval.expired') this.end(id!, request);
  }

  private consume(
    seq: number,
    { details, guardianEpoch }: ReceiptContent,
    request: Followed | undefined,
  ): void {
    this.consumed++;
    if (guardianEpoch !== (this.#epoch ?? guardianEpoch)) {
      this.fault(
        'epoch',
        seq,
        `Receipt ${seq} names another epoch of the guardian than the receipts before it.`,
      );
    }
    if (!request) {
      if (this.#isWhole) this.refuse(seq, 'undecided');
      return;
    }
    const { state, shown, contentHash } = request;
    // An earlier version of the program did not tell which approval a request has.
    if (state !== 'allowed' && state !== 'approved' && shown) this.refuse(seq, state);
    request.state = 'consumed';
    const { paramsHash } = details;
    if (!shown || (state !== 'allowed' && state !== 'approved')) return;
    const isDecided =
      state === 'allowed'
        ? paramsHash === shown.paramsHash
        : approvedHashOf({ ...shown, paramsHash: String(paramsHash) }) === contentHash;
    if (!isDecided) {
      this.fault(
        'params',
        seq,
        `Receipt ${seq} records that other parameters were consumed than those decided.`,
      );
    }
  }

  private refuse(seq: number, state: Exclude<State, 'allowed' | 'approved'>): void {
    if (state === 'consumed') {
      this.fault(
        'twice',
        seq,
        `Receipt ${seq} records that an action request was consumed for the second time.`,
      );
    } else if (state === 'voided') {
      this.fault(
        'voided',
        seq,
        `Receipt ${seq} records that an action request was consumed after a kill had voided it.`,
      );
    } else {
      this.fault(
        'permission',
        seq,
        `Receipt ${seq} records that an action request was consumed which nothing before it allows.`,
      );
    }
  }

  private result(seq: number, id: string, request: Followed | undefined): void {
    if (request ? request.state !== 'consumed' : this.#isWhole) {
      this.fault(
        'result',
        seq,
        `Receipt ${seq} records the result of an action request that was not consumed before it.`,
      );
    }
    if (request) this.end(id, request);
  }

  private end(id: string, { approvalId }: Followed): void {
    this.#requests.delete(id);
    if (typeof approvalId === 'string') this.#byApproval.delete(approvalId);
  }

  private fault(kind: ActionFaultKind, seq: number, message: string): void {
    this.faultCount++;
    if (this.faults.length < KEPT) this.faults.push({ kind, seq, message });
  }
}

interface ToldDecision {
  outcome: unknown;
  input: { packet: { workPacketId: unknown; actionType: unknown; outside?: { agent?: unknown } } };
}

/** What was written by others, or by an earlier version, is read as far as it can be. */
function decisionIn({ decisions }: ReceiptContent['details']): ToldDecision | undefined {
  const [decision] = (Array.isArray(decisions) ? decisions : []) as (Partial<ToldDecision> | null)[];
  return typeof decision?.input?.packet === 'object' && decision.input.packet !== null
    ? (decision as ToldDecision)
    : undefined;
}

/** As of every approval (approvals/approval.ts), which here has one packet and no output. */
function approvedHashOf(shown: ShownAction): string {
  return sha256(canonicalJson({ body: null, packets: [actionContentHash(shown)] }));
}
