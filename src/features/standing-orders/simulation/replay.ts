import { createHash } from 'node:crypto';
import { canonicalJson, sha256 } from '../../../platform/kernel/canonical-json.js';
import {
  type DecidedPacket,
  type DecisionOrder,
  isOfContent,
  type RecordedInput,
} from '../decision-input.js';
import { type DecisionWithoutHash, evaluateAgainWithoutHash, mayConcern, unmetParts } from '../evaluate.js';
import { valueAt } from '../../../platform/kernel/value-at.js';
import { cutText } from '../../../platform/kernel/text.js';
import { markUnseen } from '../../../platform/kernel/unseen.js';
import { type Effect, strictness } from '../standing-order.js';
import { useOf, UsesOfOrder } from '../uses-of-order.js';

/** The last decision about a work packet, or about what an agent from outside asked for, as history has it. */
export interface PastDecision {
  decisionId: string;
  /** That of the action request, where an agent from outside asked. */
  workPacketId: string;
  /** Whose work packet it is now; null: nobody's in particular. */
  teamId: string | null;
  outcome: Effect;
  input: RecordedInput;
  target: string | null;
  /** The parameters that the draft's conditions begin with, such as `to`. */
  params: DecidedPacket['params'];
  /** As the work packet shows it to everybody; null where it no longer exists. */
  title: string | null;
  /** Null where it reaches nobody outside, or nobody knows whom. */
  recipient: string | null;
  /** What an agent from outside asked for; null for a work packet. */
  tool: string | null;
  /** Who asked for that; null for a member's own token. */
  agent: string | null;
  /** Its directive was handed in for approval, so a person is asked whatever an order allows. */
  asksAnyway: boolean;
  /** It went, and certainly did not take effect, so no order counts it. */
  isGivenBack: boolean;
}

/** A work packet, or an action request, that would be decided otherwise. */
export interface SimulatedChange {
  workPacketId: string;
  /** Of an action request. */
  tool?: string;
  agent?: string | null;
  teamId: string | null;
  title: string | null;
  recipient: string | null;
  from: Effect;
  to: Effect;
  why: string;
}

export interface Replayed {
  considered: number;
  /** Only what a person would really not have been asked about, or what would not have been denied. */
  relaxed: number;
  /** The order would have decided less strictly, but the directive asks a person anyway. */
  stillAsks: number;
  escalated: number;
  unchanged: number;
  relaxedIrreversible: number;
  /** At most {@link NAMED_CHANGES}: what can no longer be taken back first, then what else is relaxed, each newest first. */
  changes: SimulatedChange[];
  /** SHA-256; the same for the same version and the same decisions. */
  hash: string;
  /** Why it would have changed nothing, in a sentence; null where it would have changed something. */
  why: string | null;
}

/** What an order would have done, for those who may read different work packets. */
export interface Simulated {
  /** To all that it decides: for its team, or for the whole workspace. */
  whole: Replayed;
  /** To the work packets that everybody sees who sees the order: those of its team, or of none. No other one has any part in it. */
  own: Replayed;
}

const MAX_RECIPIENT = 200;
const SUBJECT = 'params.subject';
const MAX_SUBJECT = 80;
/** So many of the changes are named; the others are counted. */
const NAMED_CHANGES = 100;
/** How many policies of the past are ready at a time; history goes from one to the next. */
const READY_POLICIES = 20;

interface PolicyOfThen {
  /** The draft among the orders of then, in place of a former version. */
  orders: readonly DecisionOrder[];
  /** The draft, and the version of it that was in force: without that, too, a decision may come out differently. */
  changed: readonly DecisionOrder[];
}

/**
 * Every decision of the past, one by one, with a draft in force: which of them would have come out otherwise. What the draft
 * lets through counts for its own limits and budget in the rest of the replay; what other orders had let through by then stands in the record.
 */
export class Replay {
  readonly #draft: DecisionOrder;
  readonly #paths: readonly string[];
  readonly #used = new UsesOfOrder();
  readonly #zone: string;
  readonly #policies = new Map<string, PolicyOfThen>();
  readonly #digest = createHash('sha256');
  #considered = 0;
  #relaxed = 0;
  #stillAsks = 0;
  #escalated = 0;
  #relaxedIrreversible = 0;
  /** That match, and come out the same all the same; and why the newest does. */
  #matched = 0;
  #matchedWhy = '';
  /** How many are kept from by the same parts of the order, and the subject of the newest of them. */
  readonly #misses = new Map<string, { parts: string[]; count: number; subject: unknown }>();
  readonly #final = new Newest<SimulatedChange>(NAMED_CHANGES);
  readonly #looser = new Newest<SimulatedChange>(NAMED_CHANGES);
  readonly #stricter = new Newest<SimulatedChange>(NAMED_CHANGES);

  /** @param zone in which the workspace's days, weeks and months begin */
  constructor(draft: DecisionOrder, zone: string) {
    this.#draft = Object.freeze({ ...draft, status: 'active' });
    this.#paths = Object.keys(draft.match.fields ?? {}).filter(isOfContent);
    this.#zone = zone;
  }

  /** The next decision, later than those before. `orders` are those of its policy. */
  add(recorded: PastDecision, orders: readonly DecisionOrder[]): void {
    const { asksAnyway, outcome: from, input } = recorded;
    const again = this.decideAgain(recorded, orders);
    if (!this.changesSomething) this.noteWhyNot(recorded, again);
    const decided = again?.outcome ?? from;
    const to = asksAnyway && from === 'deny' && decided !== 'deny' ? 'require_approval' : decided;
    this.#considered++;
    this.#digest.update(`${recorded.decisionId} ${to}\n`);
    if (!again || to === from) return;
    const change = { ...shownOf(recorded), from, to, why: this.reasonOf(again) };
    if (strictness(to) > strictness(from)) {
      this.#escalated++;
      this.#stricter.add(change);
      return;
    }
    if (asksAnyway && from !== 'deny') {
      this.#stillAsks++;
      return;
    }
    this.#relaxed++;
    const isFinal = input.packet.reversibility === 'irreversible';
    if (isFinal) this.#relaxedIrreversible++;
    (isFinal ? this.#final : this.#looser).add(change);
  }

  private get changesSomething(): boolean {
    return this.#relaxed + this.#stillAsks + this.#escalated > 0;
  }

  private noteWhyNot(recorded: PastDecision, again: DecisionWithoutHash | undefined): void {
    if (again?.matched.some(({ standingOrderId }) => standingOrderId === this.#draft.standingOrderId)) {
      this.#matched++;
      this.#matchedWhy = again.explanation[0] ?? '';
      return;
    }
    const input = this.withFields(recorded);
    const parts = unmetParts(this.#draft, input);
    const key = parts.join();
    const count = (this.#misses.get(key)?.count ?? 0) + 1;
    this.#misses.set(key, { parts, count, subject: input.packet.fields[SUBJECT] });
  }

  /** One sentence that is true; null where the order would have changed something. */
  private get why(): string | null {
    if (this.changesSomething) return null;
    if (this.#considered === 0) return 'Nothing that it could be about was decided yet.';
    if (this.#matched > 0)
      return `${this.#matched} of ${this.#considered} meet every condition, and come out as they did: ${this.#matchedWhy}`;
    const [{ parts, count, subject }] = [...this.#misses.values()].toSorted(
      (a, b) => a.parts.length - b.parts.length || b.count - a.count,
    ) as [{ parts: string[]; count: number; subject: unknown }];
    const differ = `${count === 1 ? 'differs' : 'differ'}${parts.length === 1 ? ' only' : ''}`;
    return `None of the ${this.#considered} meets every condition: the nearest ${count} ${differ} in ${new Intl.ListFormat('en').format(parts)}${parts.length === 1 ? this.subjectInWords(subject) : ''}.`;
  }

  /** What a person mistypes most; empty unless the order says how the subject begins or ends, and this one does not. */
  private subjectInWords(subject: unknown): string {
    if (typeof subject !== 'string') return '';
    const { $prefix = '', $suffix = '' } = this.#draft.match.fields?.[SUBJECT] ?? {};
    const differs = (how: string, part: string) =>
      `: “${cutText(markUnseen(subject), MAX_SUBJECT)}” does not ${how} with “${cutText(part, MAX_SUBJECT)}”`;
    if (!subject.startsWith($prefix)) return differs('begin', $prefix);
    return subject.endsWith($suffix) ? '' : differs('end', $suffix);
  }

  /** What came out of all decisions; none can be added after it. */
  result(): Replayed {
    const counts = {
      considered: this.#considered,
      relaxed: this.#relaxed,
      stillAsks: this.#stillAsks,
      escalated: this.#escalated,
      unchanged: this.#considered - this.#relaxed - this.#stillAsks - this.#escalated,
      relaxedIrreversible: this.#relaxedIrreversible,
    };
    const changes = [...this.#final.list(), ...this.#looser.list(), ...this.#stricter.list()];
    const decided = this.#digest.digest('hex');
    return {
      ...counts,
      why: this.why,
      changes: changes.slice(0, NAMED_CHANGES),
      hash: sha256(canonicalJson({ ...counts, order: this.#draft.hash, decided })),
    };
  }

  /** Undefined where neither the draft nor a former version of it has a say: the decision stays what it was. */
  private decideAgain(
    recorded: PastDecision,
    orders: readonly DecisionOrder[],
  ): DecisionWithoutHash | undefined {
    const { input, asksAnyway, isGivenBack } = recorded;
    const { orders: ofThen, changed } = this.policyOfThen(input.policy, orders);
    if (!changed.some((order) => mayConcern(order, input.packet))) return undefined;
    const { standingOrderId } = this.#draft;
    const { at, packet } = input;
    const used = this.#used.usage(this.#draft, { at, timezone: this.#zone, currency: packet.currency });
    const usage = { ...input.usage, [standingOrderId]: used };
    const decision = evaluateAgainWithoutHash({ ...this.withFields(recorded), usage }, ofThen);
    const isUsed =
      !isGivenBack &&
      !asksAnyway &&
      decision.outcome === 'allow' &&
      decision.matched.some((order) => order.standingOrderId === standingOrderId);
    if (isUsed) this.#used.add(useOf(packet, at));
    return decision;
  }

  /** The input with what the draft asks for of its content. */
  private withFields({ input, target, params }: PastDecision): RecordedInput {
    const { packet } = input;
    const fields = { ...packet.fields };
    for (const path of this.#paths) {
      const value = valueAt({ target, params }, path);
      if (value !== undefined) fields[path] = value as (typeof fields)[string];
    }
    return { ...input, packet: { ...packet, fields } };
  }

  private policyOfThen(hash: string, orders: readonly DecisionOrder[]): PolicyOfThen {
    const ready = this.#policies.get(hash);
    if (ready) return ready;
    const isOther = ({ standingOrderId }: DecisionOrder) => standingOrderId !== this.#draft.standingOrderId;
    const policy = {
      orders: Object.freeze([...orders.filter(isOther), this.#draft]),
      changed: [...orders.filter((order) => !isOther(order)), this.#draft],
    };
    const [oldest] = this.#policies.keys();
    if (oldest !== undefined && this.#policies.size === READY_POLICIES) this.#policies.delete(oldest);
    this.#policies.set(hash, policy);
    return policy;
  }

  /** The sentence that names the draft, where there is one; else what decided first. */
  private reasonOf({ explanation, outcome }: DecisionWithoutHash): string {
    const own = explanation.find((sentence) =>
      sentence.startsWith(`The standing order "${this.#draft.name}"`),
    );
    const isDecisive = outcome === 'allow' || explanation[0] === own;
    return (isDecisive ? own : undefined) ?? explanation[0] ?? '';
  }
}

/** What an agent wrote as a recipient may be long, and must not look like something else. */
function shownOf({ workPacketId, teamId, title, recipient, tool, agent }: PastDecision) {
  const shown = { workPacketId, teamId, title, recipient };
  if (tool === null) return shown;
  return { ...shown, recipient: recipient && cutText(markUnseen(recipient), MAX_RECIPIENT), tool, agent };
}

/** The last so many of what was added. */
class Newest<T> {
  readonly #ring: T[] = [];
  #added = 0;

  constructor(private readonly capacity: number) {}

  add(item: T): void {
    this.#ring[this.#added++ % this.capacity] = item;
  }

  /** Newest first. */
  list(): T[] {
    const kept = Math.min(this.#added, this.capacity);
    return Array.from({ length: kept }, (_, back) => this.#ring[(this.#added - 1 - back) % this.capacity]!);
  }
}
