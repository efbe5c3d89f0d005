import type { ApprovalView, EditBody } from '@consigliere/sdk';

type Packet = ApprovalView['packets'][number];

/** A parameter of a work packet as a person edits it. */
export interface Field {
  /** Names what was typed into it. */
  id: string;
  label: string;
  value: string;
  isLong: boolean;
  /** Nobody has given it yet. */
  isMissing: boolean;
  /** Why it is asked for. */
  question: string | undefined;
}

const LABELS: Record<string, string> = { to: 'To', cc: 'Cc', bcc: 'Bcc', subject: 'Subject', body: 'Text' };
const LONG = new Set(['body', 'text', 'markdown']);

/** The parameters that can be edited as text: texts, and lists of them, which commas part. */
export function fieldsOf({ workPacketId, action, needsInput }: Packet): Field[] {
  const names = new Set([
    ...Object.keys(action.params),
    ...needsInput.flatMap(({ path }) => nameOf(path) ?? []),
  ]);
  return [...names].flatMap((name) => {
    const value = action.params[name];
    const isText = value === undefined || value === null || typeof value === 'string';
    if (!isText && !isTexts(value)) return [];
    const needed = needsInput.find(({ path }) => nameOf(path) === name);
    return {
      id: `${workPacketId}.${name}`,
      label: LABELS[name] ?? name,
      value: isTexts(value) ? value.join(', ') : (value ?? ''),
      isLong: LONG.has(name),
      isMissing: needed !== undefined,
      question: needed?.message,
    };
  });
}

/** The change that makes what was typed the content; undefined where nothing differs. */
export function editOf({ packets }: ApprovalView, typed: Record<string, string>): EditBody | undefined {
  const changed = packets.flatMap((packet) => {
    const fields = fieldsOf(packet).filter(({ id, value }) => typed[id] !== undefined && typed[id] !== value);
    if (fields.length === 0) return [];
    const params = fields.map(({ id }) => {
      const name = id.slice(packet.workPacketId.length + 1);
      return [name, isTexts(packet.action.params[name]) ? listOf(typed[id]!) : typed[id]!];
    });
    // The service takes a work packet's parameters whole.
    const { workPacketId, action } = packet;
    return { workPacketId, params: { ...action.params, ...Object.fromEntries(params) } };
  });
  return changed.length > 0 ? { packets: changed } : undefined;
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
