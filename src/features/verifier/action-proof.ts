import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import { actionContentHash, type ShownAction } from '../terms/action-hashes.js';

/** What a receipt may say that those before it do not allow. */
const SAYS = {
  outcome: 'does not say what the decision in it says',
  agent: 'names another agent or tool than the action request did before',
  content: 'is about another content than the approval showed then',
  permission: 'records that an action request was consumed which nothing before it allows',
  twice: 'records that an action request was consumed for the second time',
  params: 'records that other parameters were consumed than those decided',
  epoch: 'names another epoch of the guardian than the receipts before it',
  result: 'records the result of an action request that was not consumed before it',
};

/** An action request, as its receipts so far tell it. */
interface Followed {
  state: 'undecided' | 'allowed' | 'approved' | 'consumed';
  tool: unknown;
  agent: unknown;
  approvalId: unknown;
  /** Undefined where an earlier version of the program did not tell the hash of the parameters. */
  shown: ShownAction | undefined;
  /** What the approval shows to approvers now, after edits. */
  contentHash: unknown;
}

const KEPT = 100;
/** What each act says that the policy decided. */
const OUTCOMES: Readonly<Record<string, string>> = {
  'action.allowed': 'allow',
  'action.denied': 'deny',
  'action.asked': 'require_approval',
  'action.throttled': 'throttle',
};
const ENDS = ['action.denied', 'action.cancelled', 'action.expired', 'approval.rejected', 'approval.expired'];
const RESULTS = ['action.completed', 'action.failed'];

/**
 * Follows what agents from outside ask for through the receipts of a workspace: that nothing was consumed without a permission
 * that still held, nothing twice, nothing with other parameters than those decided or by another agent, and that no result came
 * of what was not consumed. Memory grows with what is open. Where receipts are missing, only what came after them is judged.
 */
export class ActionProof {
  consumed = 0;
  faultCount = 0;
  /** The first hundred; a message quotes nothing of a receipt. */
  readonly faults: { kind: keyof typeof SAYS; seq: number; message: string }[] = [];
  readonly #requests = new Map<string, Followed>();
  readonly #byApproval = new Map<unknown, string>();
  #isWhole = true;
  #seq = 0;
  #epoch: number | undefined = 0;

  /** The next receipt. */
  receipt(seq: number, content: ReceiptContent): void {
    if (seq !== this.#seq + 1) this.forget();
    this.#seq = seq;
    const { action, entity } = content;
    if (action.startsWith('guardian.')) this.guardian(content);
    else if (entity.type === 'action_request') this.request(entity.id, content);
    else if (action.startsWith('approval.')) this.approval(this.#byApproval.get(entity.id), content);
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
    for (const [id, request] of this.#requests) if (isPermitted(request)) this.end(id);
  }

  private request(id: string, content: ReceiptContent): void {
    const { action, actor } = content;
    if (Object.hasOwn(OUTCOMES, action)) this.decided(id, content);
    const request = this.#requests.get(id);
    if (request && actor.type === 'agent' && actor.name !== request.agent) this.fault('agent');
    if (action === 'action.consumed') this.consume(content, request);
    if (RESULTS.includes(action)) {
      if (request ? request.state !== 'consumed' : this.#isWhole) this.fault('result');
    } else if (!ENDS.includes(action)) return;
    this.end(id);
  }

  private decided(id: string, { action, details }: ReceiptContent): void {
    const decision = decisionIn(details);
    // Parameters that could not be checked are denied without one.
    if (!decision) return;
    const { packet } = decision.input;
    const { tool, fingerprint, paramsHash, approvalId } = details;
    const agent = packet.outside?.agent;
    const isSame = packet.workPacketId === id && packet.actionType === tool;
    if (!isSame || decision.outcome !== OUTCOMES[action]) this.fault('outcome');
    const before = this.#requests.get(id);
    if (before && (agent !== before.agent || tool !== before.tool)) this.fault('agent');
    const shown =
      paramsHash === undefined ? undefined : ({ tool, fingerprint, agent, paramsHash } as ShownAction);
    this.#requests.set(id, {
      state: decision.outcome === 'allow' ? 'allowed' : 'undecided',
      tool,
      agent,
      approvalId,
      shown,
      contentHash: shown && approvedHashOf(shown),
    });
    if (typeof approvalId === 'string') this.#byApproval.set(approvalId, id);
  }

  private approval(id: string | undefined, { action, details }: ReceiptContent): void {
    const request = id === undefined ? undefined : this.#requests.get(id);
    if (id === undefined || !request) return;
    const isEdit = action === 'approval.edited';
    if (isEdit || action === 'approval.approved') {
      const read = isEdit ? details['before'] : details['contentHash'];
      if (request.shown && read !== request.contentHash) this.fault('content');
      if (isEdit) request.contentHash = details['contentHash'];
      else request.state = 'approved';
    }
    if (ENDS.includes(action)) this.end(id);
  }

  private consume({ details, guardianEpoch }: ReceiptContent, request: Followed | undefined): void {
    this.consumed++;
    if (guardianEpoch !== (this.#epoch ?? guardianEpoch)) this.fault('epoch');
    if (!request) {
      if (this.#isWhole) this.fault('permission');
      return;
    }
    const { state, shown, contentHash } = request;
    request.state = 'consumed';
    if (!shown) return;
    if (!isPermitted({ state })) {
      this.fault(state === 'consumed' ? 'twice' : 'permission');
      return;
    }
    const paramsHash = String(details['paramsHash']);
    const isDecided =
      state === 'approved'
        ? approvedHashOf({ ...shown, paramsHash }) === contentHash
        : paramsHash === shown.paramsHash;
    if (!isDecided) this.fault('params');
  }

  private end(id: string): void {
    this.#byApproval.delete(this.#requests.get(id)?.approvalId);
    this.#requests.delete(id);
  }

  private fault(kind: keyof typeof SAYS): void {
    const seq = this.#seq;
    const message = `Receipt ${seq} ${SAYS[kind]}.`;
    if (++this.faultCount <= KEPT) this.faults.push({ kind, seq, message });
  }
}

function isPermitted({ state }: Pick<Followed, 'state'>): boolean {
  return state === 'allowed' || state === 'approved';
}

interface ToldDecision {
  outcome: unknown;
  input: { packet: { workPacketId: unknown; actionType: unknown; outside?: { agent?: unknown } } };
}

/** What was written by others, or by an earlier version, is read as far as it can be. */
function decisionIn({ decisions }: ReceiptContent['details']): ToldDecision | undefined {
  const [decision] = (Array.isArray(decisions) ? decisions : []) as (Partial<ToldDecision> | null)[];
  return decision?.input?.packet ? (decision as ToldDecision) : undefined;
}

/** As of every approval (approvals/approval.ts), which here has one packet and no output. */
function approvedHashOf(shown: ShownAction): string {
  return sha256(canonicalJson({ body: null, packets: [actionContentHash(shown)] }));
}
