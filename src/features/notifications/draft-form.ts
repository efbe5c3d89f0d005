import { escapeHtml } from '../../platform/http/page.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { markUnseen } from '../../platform/kernel/unseen.js';
import type { ApprovalWorkPacket, PacketEditBody } from '../approvals/index.js';
import { isOptionalParameter, valueAt } from '../capos/index.js';
import { oneLine } from '../mail/index.js';
import { nameOf, readingRank, wordsForPeople } from './draft-blocks.js';

/** The fields of a form, as they were sent. */
export type Form = Readonly<Record<string, string>>;

/** What is wrong with the fields of the form, by their name; '' is the form as a whole. */
export type FormFaults = ReadonlyMap<string, readonly string[]>;

/** A part of a work packet that the form can change. */
interface Field {
  name: string;
  /** Such as `params.subject`. */
  path: string;
  value: unknown;
  kind: 'text' | 'list' | 'json';
  /** What is asked for in it. */
  asked: ApprovalWorkPacket['needsInput'];
}

/** A form with more is refused (platform/http/body.ts); the parts beyond are shown, and edited through the API. */
const MOST_FIELDS = 400;
/** These are texts of several lines, also while they are empty. */
const LONG = /\.(?:body|description|directive|text)$/;
const LISTS = ['params.to', 'params.cc'];
const JSON_PARTS = ['params.arguments', 'params.data', 'params.amount', 'params.score'];

function fieldsOf({ workPacketId, action, needsInput }: ApprovalWorkPacket): Field[] {
  const { type, params } = action;
  const asked = needsInput.map(({ path }) => path);
  const present = leavesOf(params, 'params', asked);
  const isWithin = (path: string, part: string) => path === part || path.startsWith(`${part}.`);
  const absent = [...asked, ...(type === 'email.send' ? ['params.cc'] : [])].filter(
    (path, index, all) => all.indexOf(path) === index && !present.some((part) => isWithin(path, part)),
  );
  const rank = (path: string) => readingRank(path.split('.')[1] ?? '');
  const inOrder = [...present, ...absent].toSorted((a, b) => rank(a) - rank(b));
  return inOrder.map((path) => {
    const value = valueAt(params, path);
    return {
      ...{ name: `${workPacketId}.${path}`, path, value, kind: kindOf(path, value) },
      asked: needsInput.filter((each) => isWithin(each.path, path)),
    };
  });
}

/** The texts, lists of texts and numbers, and whatever is asked for. A key with a point has no path. */
function leavesOf(value: unknown, path: string, asked: readonly string[]): string[] {
  if (asked.includes(path) || typeof value === 'string' || typeof value === 'number' || isTexts(value)) {
    return [path];
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    key.includes('.') ? [] : leavesOf(each, `${path}.${key}`, asked),
  );
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function kindOf(path: string, value: unknown): Field['kind'] {
  if (isTexts(value) || (value === undefined && LISTS.includes(path))) return 'list';
  if (typeof value === 'string' || (value === undefined && !JSON_PARTS.includes(path))) return 'text';
  return 'json';
}

/** What the form makes of the work packets; empty when it changes nothing. */
export function editIn(form: Form, packets: readonly ApprovalWorkPacket[]): PacketEditBody[] {
  return packets.flatMap((packet) => {
    const { workPacketId, action, needsInput } = packet;
    let params: Record<string, unknown> = { ...action.params };
    for (const field of fieldsOf(packet)) {
      const typed = form[field.name];
      if (typed === undefined) continue;
      const keys = field.path.split('.').slice(1);
      const read = valueIn(linesOf(typed), field);
      const isLeftOut = read !== field.value && isEmpty(read) && isOptionalParameter(action.type, keys);
      params = withValue(params, keys, isLeftOut ? undefined : read) as Record<string, unknown>;
    }
    const confirm = needsInput
      .map(({ path }) => path)
      .filter((path) => form[`confirm ${workPacketId}.${path}`] !== undefined);
    const isChanged = canonicalJson(params) !== canonicalJson(action.params);
    if (!isChanged && confirm.length === 0) return [];
    return [{ workPacketId, params, ...(confirm.length > 0 && { confirm }) }];
  });
}

/** Whether the form holds all of the draft as it stands, so that only somebody who knows it can have sent it. */
export function holdsDraft(form: Form, packets: readonly ApprovalWorkPacket[]): boolean {
  const names = packets.flatMap((packet) => fieldsOf(packet).map(({ name }) => name));
  return (
    names.length > 0 && names.every((name) => Object.hasOwn(form, name)) && editIn(form, packets).length === 0
  );
}

/** What was not touched stays as it is, whatever browsers make of its line breaks. */
function valueIn(typed: string, { value, kind }: Field): unknown {
  if (typed === linesOf(shown(value))) return value;
  if (kind === 'text') return typed;
  if (kind === 'list') {
    return typed
      .split(/[,;\n]/)
      .map((each) => each.trim())
      .filter(Boolean);
  }
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

function shown(value: unknown): string {
  if (value === undefined || typeof value === 'string') return value ?? '';
  return isTexts(value) ? value.join('\n') : JSON.stringify(value, null, 1);
}

/** Browsers send every line break as CR LF. */
function linesOf(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

/** Undefined leaves the key out. Only own keys are read and written: they come from a draft. */
function withValue(value: unknown, [key, ...rest]: readonly string[], leaf: unknown): unknown {
  if (key === undefined) return leaf;
  const entries = Object.entries(typeof value === 'object' && value !== null ? value : {});
  const before = entries.find(([name]) => name === key)?.[1];
  const after = withValue(before, rest, leaf);
  const others = entries.filter(([name]) => name !== key);
  return Object.fromEntries(after === undefined ? others : [...others, [key, after]]);
}

/** The faults of an edit at the fields that they are about. */
export function faultsAt(
  faults: readonly Fault[],
  edits: readonly PacketEditBody[],
  packets: readonly ApprovalWorkPacket[],
): FormFaults {
  const found = new Map<string, string[]>();
  for (const { path, message } of faults) {
    // The parameters of what an agent asks for have no number.
    const [, index = '0', part = ''] = /^(?:packets\.(\d+)\.)?(.+)$/.exec(path) ?? [];
    const edit = edits[Number(index)];
    const packet = packets.find(({ workPacketId }) => workPacketId === edit?.workPacketId);
    const field = packet && fieldsOf(packet).find((each) => `${part}.`.startsWith(`${each.path}.`));
    // Of a list, the one that is wrong.
    const value = part === field?.path ? undefined : valueAt(edit?.params, part);
    const what = typeof value === 'string' ? `“${oneLine(value)}”` : nameOf(part);
    const name = field?.name ?? '';
    found.set(name, [...(found.get(name) ?? []), `${what} ${wordsForPeople(message)}`]);
  }
  return found;
}

/** The fields by which the draft is edited, with what was typed and what is wrong beside each. */
export function editFields(packets: readonly ApprovalWorkPacket[], form: Form, faults: FormFaults): string {
  let room = MOST_FIELDS;
  return packets
    .map((packet, index) => {
      const fields = fieldsOf(packet).slice(0, room);
      room -= fields.length;
      if (fields.length === 0) return '';
      const inputs = fields.map((field, at) =>
        fieldHtml(field, `f${index}-${at}`, linesOf(form[field.name] ?? shown(field.value)), {
          packet,
          form,
          faults: faults.get(field.name) ?? [],
        }),
      );
      return `<fieldset>
<legend dir="auto">${index + 1}. ${escapeHtml(markUnseen(oneLine(packet.title)))}</legend>
${inputs.join('\n')}
</fieldset>`;
    })
    .join('\n');
}

function fieldHtml(
  { name, path, kind, asked, value }: Field,
  id: string,
  typed: string,
  {
    packet: { workPacketId },
    form,
    faults,
  }: { packet: ApprovalWorkPacket; form: Form; faults: readonly string[] },
): string {
  const notes = [
    ...faults.map((text) => `<span class="fault">${escapeHtml(text)}</span>`),
    ...asked.map(({ message }) => `<span class="asked">${escapeHtml(wordsForPeople(message))}</span>`),
  ];
  const described = notes.length > 0 ? ` aria-describedby="${id}-notes"` : '';
  const attributes = `id="${id}" name="${escapeHtml(name)}"${described}${faults.length > 0 ? ' aria-invalid="true"' : ''} dir="auto"`;
  const label = `${nameOf(path)}${kind === 'list' ? ', one in each line' : kind === 'json' && typeof value !== 'number' ? ', as JSON' : ''}`;
  const isLong = kind === 'list' || LONG.test(path) || /[\r\n]/.test(typed) || typed.length > 200;
  const confirms = asked
    .filter(() => !isEmpty(value) && value !== undefined)
    .map((each) => {
      const confirmName = `confirm ${workPacketId}.${each.path}`;
      const checked = form[confirmName] === undefined ? '' : ' checked';
      return `<label class="confirm"><input type="checkbox" name="${escapeHtml(confirmName)}"${checked}> ${escapeHtml(markUnseen(nameOf(each.path)))} is right as it stands</label>`;
    });
  return `<label for="${id}">${escapeHtml(markUnseen(label))}</label>
${notes.length > 0 ? `<p class="notes" id="${id}-notes">${notes.join('<br>')}</p>\n` : ''}${
    isLong
      ? // A parser drops the first line break.
        `<textarea ${attributes}${kind === 'list' ? ' class="short"' : ''}>\n${escapeHtml(typed)}</textarea>`
      : `<input ${attributes} value="${escapeHtml(typed)}">`
  }${confirms.length > 0 ? `\n${confirms.join('\n')}` : ''}`;
}
