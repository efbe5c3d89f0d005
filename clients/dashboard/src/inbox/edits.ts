import type { ApprovalView, EditBody } from '@consigliere/sdk';
import { labelOf } from '../ui/names.js';

type Packet = ApprovalView['packets'][number];
type Kind = 'text' | 'texts' | 'addresses' | 'number' | 'json';

/** A parameter of a work packet as a person edits it. */
export interface Field {
  /** Names what was typed into it. */
  id: string;
  name: string;
  label: string;
  kind: Kind;
  value: string;
  /** What the text stands for, where nothing else tells: “1” is a text, a number or JSON. */
  type?: string;
  isLong: boolean;
  /** Why it is asked for; undefined where it is not. */
  question: string | undefined;
}

/** The kinds of approval whose content a person can change. */
export const EDITABLE = new Set<ApprovalView['kind']>(['output', 'action']);

const LONG = new Set(['body', 'text', 'markdown']);
const RECIPIENTS = new Set(['to', 'cc', 'bcc']);
/** Enough to tell a slip; the service knows every rule. */
const ADDRESS = /^[^\s@<>]+@[^\s@<>.]+(?:\.[^\s@<>.]+)+$/;
/** As a mail is read; what has no place of its own stands between the subject and the text. */
const ORDER = ['to', 'cc', 'bcc', 'subject'];

/**
 * Every parameter, in the order in which it is read. Recipients are parted by commas; what is no text is JSON. The parameters
 * of an agent may be of any type, so each says of which it is.
 */
export function fieldsOf({ workPacketId, action, needsInput }: Packet, kind: ApprovalView['kind']): Field[] {
  const names = new Set([
    ...Object.keys(action.params),
    ...needsInput.flatMap(({ path }) => nameOf(path) ?? []),
  ]);
  const fields = [...names].map((name): Field => {
    const value = action.params[name];
    const read = kind === 'action' ? literalKindOf(value) : kindOf(name, value, action.type);
    return {
      id: `${workPacketId}.${name}`,
      name,
      label: labelOf(name),
      kind: read,
      value: read === 'json' ? JSON.stringify(value, null, 2) : shownAs(value),
      ...(kind === 'action' && { type: read === 'json' ? 'JSON' : value === '' ? 'empty text' : read }),
      isLong: LONG.has(name) || read === 'json',
      question: needsInput.find(({ path }) => nameOf(path) === name)?.message,
    };
  });
  return fields.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Whether a person still has to supply it, or to confirm that it is right as it stands. */
export function isMissing({ id, question, value }: Field, typed: Record<string, string>): boolean {
  if (question === undefined) return false;
  const shown = typed[id] ?? value;
  return !shown.trim() || (shown === value && !typed[confirmationOf(id)]);
}

/** Where it is kept that a person has confirmed a field. */
export function confirmationOf(id: string): string {
  return `${id}?`;
}

/** What is wrong with what was typed; undefined: nothing. */
export function faultOf({ kind, id }: Field, typed: Record<string, string>): string | undefined {
  const text = typed[id];
  if (text === undefined) return undefined;
  if (kind === 'addresses') {
    const wrong = listOf(text).find((one) => !ADDRESS.test(one));
    return wrong === undefined ? undefined : `“${wrong}” is no mail address such as jane@acme.example.`;
  }
  if (kind === 'number' && (!text.trim() || !Number.isFinite(Number(text)))) return 'Give a number.';
  if (kind !== 'json') return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return 'This is not valid JSON.';
  }
}

/** The change that makes what was typed the content; undefined where nothing differs. */
export function editOf(approval: ApprovalView, typed: Record<string, string>): EditBody | undefined {
  const { kind, packets } = approval;
  const changed = packets.flatMap((packet) => changeOf(packet, kind, typed) ?? []);
  if (changed.length === 0) return undefined;
  return kind === 'action' ? { params: changed[0]!.params! } : { packets: changed };
}

function changeOf(
  packet: Packet,
  approved: ApprovalView['kind'],
  typed: Record<string, string>,
): NonNullable<EditBody['packets']>[number] | undefined {
  const { workPacketId, action } = packet;
  const fields = fieldsOf(packet, approved);
  const isChanged = ({ id, value }: Field) => typed[id] !== undefined && typed[id] !== value;
  const changed = fields.filter(isChanged);
  const confirm = fields
    .filter((field) => field.question !== undefined && !isChanged(field) && typed[confirmationOf(field.id)])
    .map(({ name }) => `params.${name}`);
  if (changed.length === 0 && confirm.length === 0) return undefined;
  // While it is typed it may be no JSON; nothing is sent then.
  const right = changed.filter((field) => faultOf(field, typed) === undefined);
  const params = right.map(({ id, name, kind }) => [name, readAs(kind, typed[id]!)]);
  return {
    workPacketId,
    // The service takes a work packet's parameters whole.
    ...(changed.length > 0 && { params: { ...action.params, ...Object.fromEntries(params) } }),
    ...(confirm.length > 0 && { confirm }),
  };
}

function placeOf({ name, isLong }: Field): number {
  const place = ORDER.indexOf(name);
  if (place >= 0) return place;
  return isLong ? ORDER.length + 1 : ORDER.length;
}

function kindOf(name: string, value: unknown, action: string): Kind {
  if (action === 'email.send' && RECIPIENTS.has(name)) return 'addresses';
  if (typeof value === 'number') return 'number';
  if (isTexts(value)) return 'texts';
  if (value === undefined || value === null) return 'text';
  return typeof value === 'string' ? 'text' : 'json';
}

function literalKindOf(value: unknown): Kind {
  return typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'json';
}

function shownAs(value: unknown): string {
  if (isTexts(value)) return value.join(', ');
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** @throws SyntaxError for JSON that is none, which {@link faultOf} tells before */
function readAs(kind: Kind, text: string): unknown {
  if (kind === 'number') return Number(text);
  if (kind === 'json') return JSON.parse(text);
  return kind === 'texts' || kind === 'addresses' ? listOf(text) : text;
}

/** The parameter that a path names; undefined where it leads elsewhere. */
function nameOf(path: string): string | undefined {
  return /^params\.(\w+)$/.exec(path)?.[1];
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function listOf(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((one) => one.trim())
    .filter(Boolean);
}
