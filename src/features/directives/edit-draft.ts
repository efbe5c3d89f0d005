import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import {
  type ApprovalEntity,
  type ApprovalPacket,
  concernsAfterEdit,
  type Edit,
  type Edited,
  type EditSituation,
  type OfDirective,
  packetsOf,
  type RevisionChange,
} from '../approvals/index.js';
import {
  ACTION_TYPES,
  dangersOfPackets,
  documentFrom,
  DRAFT_BOUNDS,
  engineOf,
  isActionType,
  isBodyCut,
  type NeededInput,
  openPlace,
  OURS,
  type OutsideTargets,
  OutsideTargetsReader,
  parametersOf,
  type ParamsOf,
  stringsIn,
  titleOf,
  validateAction,
  valueAt,
} from '../capos/index.js';
import { decisionsInReceipt, type PolicyDecision, PolicyDenied, PolicyGate } from '../guardian/index.js';
import { type Decision, strictestElectorate } from '../standing-orders/index.js';
import type { DirectiveEntity } from './directive.entity.js';
import { outputOf } from './directive.js';
import { Directives } from './directives.repository.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import { actionOf, decidedPacketOf, newPacket, type PacketOrigin } from './packets/work-packet.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { readyContent } from './ready-content.js';

/** A work packet as an edit leaves it; without a change it is as it was. */
interface PlannedPacket {
  packet: WorkPacketEntity;
  change: RevisionChange | undefined;
}

/** What an edit makes of the work packets that wait for a person. */
interface EditPlan {
  /** In their order, the added ones last. */
  packets: PlannedPacket[];
  removed: { packet: WorkPacketEntity; change: RevisionChange }[];
}

/** What an edit needs to know of the draft and its directive. */
interface EditedDraft {
  origin: Origin;
  by: Actor;
  /** For what is added, behind all packets of the draft. */
  nextPosition: number;
  /** What people wrote in the directive: a placeholder in it is one on purpose. */
  written: string;
  /** What the workspace reaches outside. */
  targets: OutsideTargets;
}

type Origin = Omit<PacketOrigin, 'workPacketId' | 'position'>;
interface PacketEdit {
  params: Record<string, unknown>;
  /** What of it a person says is right as it stands there. */
  confirm: readonly string[];
  /** Its path in the request. */
  at: string;
}
type PacketEdits = ReadonlyMap<string, PacketEdit>;

/**
 * What an edit does to the work packets of a draft and to the directive. The approval is locked. What was changed or added
 * is decided by the policy as if a capo had drafted it; what was left alone keeps its decision.
 */
@Injectable()
export class EditOutput {
  constructor(
    private readonly db: Db,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly gate: PolicyGate,
    private readonly targets: OutsideTargetsReader,
  ) {}

  /** @throws ValidationFailed, PolicyDenied */
  async execute(
    approval: OfDirective<ApprovalEntity>,
    edit: Edit,
    situation: EditSituation,
  ): Promise<Edited | undefined> {
    const { workspaceId, directiveId } = approval;
    const directive = (await this.directives.lock(workspaceId, directiveId))!;
    const current = await this.packets.current(workspaceId, directiveId);
    const plan = await this.planOf(edit, directive, current, situation);
    const changes = [...plan.packets, ...plan.removed].flatMap(({ change }) => change ?? []);
    if (changes.length === 0) return undefined;

    const { decisions, anew } = await this.decide(directive, plan, situation);
    this.write(plan, decisions);
    const packets = plan.packets.map(({ packet }) => packet);
    // Another part may have left already; it is still a part of what the directive made.
    const others = current.filter(({ status }) => status !== 'awaiting_approval');
    directive.output = this.outputFrom(directive, [...others, ...packets]);
    this.directives.update(directive, {
      output: directive.output,
      workPacketIds: [
        ...new Set([...directive.workPacketIds, ...packets.map((packet) => packet.workPacketId)]),
      ],
      // The editor of a delegated directive is one of its requesters.
      requesterIds: [...new Set([...directive.requesterIds, ...situation.people])],
    });
    const content = this.contentOf(approval, directive, plan, decisions, situation);
    return { changes, content, details: { decisions: decisionsInReceipt(anew) } };
  }

  private async planOf(
    edit: Edit,
    directive: DirectiveEntity,
    current: readonly WorkPacketEntity[],
    { by, at }: EditSituation,
  ): Promise<EditPlan> {
    const { workspaceId, directiveId, teamId } = directive;
    const origin = { workspaceId, teamId, directiveId, capo: directive.capo!, createdAt: at };
    const waiting = current.filter(({ status }) => status === 'awaiting_approval');
    const nextPosition = Math.max(-1, ...current.map(({ position }) => position)) + 1;
    const written = stringsIn([directive.text, directive.context]).join('\n');
    const targets = await this.targets.for({ workspaceId, teamIds: 'all' }, [
      ...waiting.map(({ actionType }) => actionType),
      ...edit.add.map(({ action }) => action.type),
    ]);
    return planEdit(edit, waiting, { origin, by, nextPosition, written, targets });
  }

  /** One decision for each work packet that remains. @throws PolicyDenied */
  private async decide(
    { priority }: DirectiveEntity,
    { packets }: EditPlan,
    { guardian }: EditSituation,
  ): Promise<{ decisions: Decision[]; anew: PolicyDecision[] }> {
    const changed = packets.filter(({ change }) => change).map(({ packet }) => packet);
    // Standing orders of the whole workspace hold for a team as well, whose members do not see them.
    await this.db.unit.seeWholeWorkspace();
    const anew = await this.gate.decide(
      changed.map((packet) => decidedPacketOf(packet, priority)),
      { guardian },
    );
    const denied = anew.filter(({ decision }) => decision.outcome === 'deny');
    if (denied.length > 0) {
      const explanation = [...new Set(denied.flatMap(({ decision }) => decision.explanation))];
      throw new PolicyDenied({ message: explanation.join(' '), details: { explanation } });
    }
    const decided = new Map(changed.map((packet, index) => [packet, anew[index]!.decision]));
    return { decisions: packets.map(({ packet }) => decided.get(packet) ?? packet.decision!), anew };
  }

  private write({ packets, removed }: EditPlan, decisions: readonly Decision[]): void {
    for (const [index, { packet, change }] of packets.entries()) {
      const decision = decisions[index]!;
      const { title, target, params, needsInput, reversibility, compensation } = packet;
      if (change?.change === 'added') this.packets.add(packet, 'ask', { decision });
      else if (change) {
        const content = { title, target, params, needsInput, reversibility, compensation, decision };
        this.packets.rewrite(packet, content);
      }
    }
    for (const { packet } of removed) this.packets.transition(packet, 'cancel');
  }

  private outputFrom({ output, engine }: DirectiveEntity, packets: readonly WorkPacketEntity[]) {
    const inOrder = packets.toSorted((a, b) => a.position - b.position);
    return {
      ...outputOf({ engine: engine!, remarks: '' }, inOrder.map(actionOf)),
      remarks: output?.remarks ?? null,
    };
  }

  private contentOf(
    approval: ApprovalEntity,
    directive: DirectiveEntity,
    { packets }: EditPlan,
    decisions: readonly Decision[],
    { by, at }: EditSituation,
  ): Edited['content'] {
    const former = new Map(packetsOf(approval).map((packet) => [packet.workPacketId, packet]));
    const changes = new Map(packets.map(({ packet, change }) => [packet.workPacketId, change]));
    const writtenBy = ({ workPacketId }: WorkPacketEntity): Pick<ApprovalPacket, 'writtenBy' | 'edits'> => {
      const packet = former.get(workPacketId);
      if (!packet) return { writtenBy: 'person', edits: [] };
      const paths = changes.get(workPacketId)?.paths ?? [];
      const untouched = packet.edits.filter(({ path }) => !paths.includes(path));
      return {
        writtenBy: packet.writtenBy,
        edits: [...untouched, ...paths.map((path) => ({ path, by, at }))],
      };
    };
    const {
      capo: _capo,
      concerns: _concerns,
      ...content
    } = readyContent(
      directive,
      packets.map(({ packet }) => packet),
      decisions,
      {
        now: at,
        concerns: [
          ...dangersOfPackets(
            packets.map(({ packet: { actionType: type, ...packet } }) => ({ type, ...packet })),
          ),
          ...concernsAfterEdit(approval.concerns),
        ],
        writtenBy,
      },
    );
    return {
      ...content,
      // An edit gives nobody more time, and loosens nothing that was asked for before.
      expiresAt: Math.min(approval.expiresAt, content.expiresAt),
      onExpiry: approval.onExpiry === 'escalate' ? 'escalate' : content.onExpiry,
      selfApproval: approval.selfApproval && content.selfApproval,
      ...strictestElectorate([approval, content]),
    };
  }
}

/**
 * Checks all of an edit against the registry, and what it would make of the draft.
 * @param waiting the work packets that wait for a person
 * @throws ValidationFailed with every fault at its path in the request
 */
function planEdit(
  edit: Edit,
  waiting: readonly WorkPacketEntity[],
  { origin, by, nextPosition, written, targets }: EditedDraft,
): EditPlan {
  const faults: Fault[] = [];
  if (edit.packets.length + edit.add.length + edit.remove.length === 0 && !edit.output) {
    throw refused([
      { path: '', rule: 'notEmpty', message: 'give at least one of packets, add, remove and output' },
    ]);
  }
  if (edit.params) {
    const message = 'is only for what an agent from outside asks for: name the work packet in packets';
    faults.push({ path: 'params', rule: 'isOfAction', message });
  }
  const edits = editsOf(edit, waiting, faults);
  const kept = waiting.filter(({ workPacketId }) => !edit.remove.includes(workPacketId));
  const removed = waiting.filter(({ workPacketId }) => edit.remove.includes(workPacketId)).map(removal);
  const packets = [
    ...kept.map((packet) =>
      editedPacket(packet, edits.get(packet.workPacketId), { written, targets }, faults),
    ),
    ...addedPackets(edit, { origin, by, nextPosition, targets }, faults),
  ];
  checkSize(edit, packets, faults);
  if (removed.length > 0 && kept.length + edit.add.length === 0) {
    const message = 'at least one work packet must remain; reject the approval to send nothing';
    faults.push({ path: 'remove', rule: 'someRemain', message });
  }
  if (faults.length > 0) throw refused(faults);
  return { packets, removed };
}

/** The new parameters by work packet, each with the path at which the request gives them. */
function editsOf(edit: Edit, waiting: readonly WorkPacketEntity[], faults: Fault[]): PacketEdits {
  const edits = new Map<string, PacketEdit>();
  const named = new Set<string>();
  const name = (workPacketId: string, path: string) => {
    const isKnown = waiting.some((packet) => packet.workPacketId === workPacketId);
    if (!isKnown) {
      faults.push({ path, rule: 'known', message: 'is not a work packet of this approval' });
    } else if (named.has(workPacketId)) {
      faults.push({ path, rule: 'once', message: 'names a work packet for the second time' });
    }
    named.add(workPacketId);
  };
  for (const [index, { workPacketId, params, confirm = [] }] of edit.packets.entries()) {
    name(workPacketId, `packets.${index}.workPacketId`);
    const current = waiting.find((packet) => packet.workPacketId === workPacketId)?.params ?? {};
    edits.set(workPacketId, { params: params ?? current, confirm, at: `packets.${index}` });
  }
  for (const [index, workPacketId] of edit.remove.entries()) name(workPacketId, `remove.${index}`);
  if (edit.output) {
    const document = soleDocument(edit, waiting);
    if (document) {
      const { title } = document.params as Partial<ParamsOf<'document.file'>>;
      const params = documentFrom(edit.output.body, title ?? '');
      edits.set(document.workPacketId, { params, confirm: [], at: 'output.body' });
    } else {
      const message =
        'can be edited only where the draft is a single document that is shown whole and lacks nothing; edit the parameters of the work packets';
      faults.push({ path: 'output.body', rule: 'singleDocument', message });
    }
  }
  return edits;
}

/**
 * The document that the text of the draft is, if it is nothing else. Where something is lacking the text says so in words
 * of ours, which must not be taken for the document's.
 */
function soleDocument(edit: Edit, waiting: readonly WorkPacketEntity[]): WorkPacketEntity | undefined {
  const [first, ...others] = waiting;
  const isAlone = first && others.length + edit.packets.length + edit.add.length + edit.remove.length === 0;
  if (!isAlone || first.actionType !== 'document.file' || first.needsInput.length > 0) return undefined;
  return isBodyCut([actionOf(first)]) ? undefined : first;
}

function editedPacket(
  packet: WorkPacketEntity,
  edit: PacketEdit | undefined,
  { written, targets }: Pick<EditedDraft, 'written' | 'targets'>,
  faults: Fault[],
): PlannedPacket {
  if (!edit) return { packet, change: undefined };
  const { params, confirm, at } = edit;
  checkConfirmed(packet, edit, faults);
  const confirmed = packet.needsInput.map(({ path }) => path).filter((path) => confirm.includes(path));
  const paths = [...new Set([...changedPaths(packet.params, params), ...confirmed])];
  if (paths.length === 0) return { packet, change: undefined };
  const needsInput = packet.needsInput
    .filter(({ path }) => !confirmed.includes(path))
    .flatMap((needed) => stillNeeded(needed, packet.params, params, written) ?? []);
  const lacking = needsInput.map(({ path }) => path);
  const validated = validateAction(packet.engine, packet.actionType, params, { lacking, targets });
  if (!validated.ok) {
    faults.push(...validated.faults.map((fault) => placed(fault, at)));
    return { packet, change: undefined };
  }
  const { action, reversibility, compensation } = validated;
  const edited: WorkPacketEntity = {
    ...packet,
    title: titleOf(action),
    target: ACTION_TYPES[action.type].target(action.params),
    params: action.params,
    reversibility,
    compensation,
    needsInput,
  };
  // What only we write is nobody's earlier text, and everybody may read this; the address of a destination is none of theirs.
  const ours = (OURS[packet.actionType] ?? []).map((name) => `params.${name}`);
  const before = Object.fromEntries(
    paths.filter((path) => !ours.includes(path)).map((path) => [path, valueAt(packet.params, path) ?? null]),
  );
  return {
    packet: edited,
    change: { workPacketId: packet.workPacketId, change: 'edited', paths, before },
  };
}

/**
 * What a person left as it was is still lacking, and so is what they changed where a placeholder stands in it. Anything
 * else that they changed is supplied, or at fault.
 */
function stillNeeded(
  needed: NeededInput,
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  written: string,
): NeededInput | undefined {
  const { path } = needed;
  const value = valueAt(after, path);
  return isSame(valueAt(before, path), value) ? needed : openPlace(path, value, written);
}

/** What lacks nothing may be confirmed as well, so that an edit can be sent again. */
function checkConfirmed(
  { actionType }: WorkPacketEntity,
  { confirm, at }: PacketEdit,
  faults: Fault[],
): void {
  const known = isActionType(actionType) ? parametersOf(actionType) : [];
  for (const [index, path] of confirm.entries()) {
    if (known.some((name) => path === name || path.startsWith(`${name}.`))) continue;
    const message = `is not a parameter of ${actionType}: one of ${known.join(', ')}`;
    faults.push({ path: `${at}.confirm.${index}`, rule: 'known', message });
  }
}

function addedPackets(
  { add }: Edit,
  { origin, by, nextPosition, targets }: Omit<EditedDraft, 'written'>,
  faults: Fault[],
): PlannedPacket[] {
  return add.flatMap(({ action: { type, params, title } }, index) => {
    const validated = validateAction(engineOf(origin.capo), type, params, { targets });
    if (!validated.ok) {
      faults.push(...validated.faults.map((fault) => placed(fault, `add.${index}.action`)));
      return [];
    }
    const workPacketId = newId('pkt');
    const packet = newPacket(
      {
        title: title ?? titleOf(validated.action),
        rationale: `Added by ${by.name}.`,
        multipliers: {},
        needsInput: [],
      },
      validated,
      { ...origin, workPacketId, position: nextPosition + index },
    );
    return [{ packet, change: { workPacketId, change: 'added', paths: [], before: {} } }];
  });
}

function removal(packet: WorkPacketEntity): EditPlan['removed'][number] {
  const { workPacketId } = packet;
  return { packet, change: { workPacketId, change: 'removed', paths: [], before: {} } };
}

/** An edited draft is bounded as one of a runner is. */
function checkSize(edit: Edit, planned: readonly PlannedPacket[], faults: Fault[]): void {
  const numbers = new Intl.NumberFormat('en');
  const path = edit.add.length > 0 ? 'add' : 'packets';
  if (planned.length > DRAFT_BOUNDS.packets) {
    const message = `a draft must not have more than ${DRAFT_BOUNDS.packets} work packets`;
    faults.push({ path, rule: 'maxPackets', message });
  }
  const bytes = Buffer.byteLength(JSON.stringify(planned.map(({ packet }) => packet.params)));
  if (bytes > DRAFT_BOUNDS.bytes) {
    const message = `the work packets must not have more than ${numbers.format(DRAFT_BOUNDS.bytes)} bytes altogether`;
    faults.push({ path, rule: 'maxBytes', message });
  }
}

/** The parameters that differ. */
function changedPaths(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => !isSame(before[name], after[name])).map((name) => `params.${name}`);
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson({ value: one }) === canonicalJson({ value: other });
}

/** A fault of the registry, at its place in the request. */
function placed({ path, rule, message }: Fault, at: string): Fault {
  return { path: at === 'output.body' ? at : `${at}.${path}`, rule, message };
}

function refused(faults: Fault[]): Error {
  return new ValidationFailed({ details: faults });
}
