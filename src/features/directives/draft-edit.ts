import type { Actor } from '../../platform/auth/caller.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import type { Edit, RevisionChange } from '../approvals/index.js';
import {
  ACTION_TYPES,
  DRAFT_BOUNDS,
  type NeededInput,
  OURS,
  type OutsideTargets,
  type ParamsOf,
  documentFrom,
  engineOf,
  isActionType,
  isBodyCut,
  openPlace,
  parametersOf,
  titleOf,
  validateAction,
  valueAt,
} from '../capos/index.js';
import { actionOf, newPacket, type PacketOrigin } from './packets/work-packet.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';

/** A work packet as an edit leaves it; without a change it is as it was. */
interface PlannedPacket {
  packet: WorkPacketEntity;
  change: RevisionChange | undefined;
}

/** What an edit makes of the work packets that wait for a person. */
export interface EditPlan {
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
 * Checks all of an edit against the registry, and what it would make of the draft.
 * @param waiting the work packets that wait for a person
 * @throws ValidationFailed with every fault at its path in the request
 */
export function planEdit(
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
