import { cutText } from '../../platform/kernel/text.js';
import { inWords } from '../../platform/kernel/local-day.js';
import { type Action, CAPOS, bodyOf } from '../capos/index.js';
import type { ApprovalQuestion, ApprovalWorkPacket, ShownApproval, VoteCount } from '../approvals/index.js';
import type { CapoRole } from '../terms/index.js';
import { type Block, oneLine } from '../mail/index.js';

/** What is shown of an approval: all of it on its page, in a mail so many characters of what was written. */
export interface Shown {
  zone: string;
  bound: number;
}

/** Larger mails are cut off by those who show them, somewhere. */
export const MAIL_BOUND = 20_000;
/** So many work packets stand in a mail. */
const PACKETS_IN_MAIL = 30;
/** A value that is longer, or has several lines, stands by itself. */
const SHORT = 200;

const NAMES = new Map([
  ['to', 'To'],
  ['cc', 'Cc'],
  ['replyTo', 'Answers go to'],
  ['subject', 'Subject'],
  ['body', 'Text'],
  ['title', 'Title'],
  ['amount', 'Amount'],
  ['currency', 'Currency'],
]);

const REVERSIBLE: Record<string, string> = {
  read_only: 'nothing is changed',
  reversible: 'can be taken back',
  externally_reversible: 'can be taken back by the system it goes to',
  irreversible: 'cannot be taken back',
};

/** Whether an agent from outside asks, for an action or an answer. */
export function isFromOutside({ kind }: Pick<ShownApproval, 'kind'>): boolean {
  return kind === 'action' || kind === 'question';
}

/** Who made what is to be done: a capo the draft, or the agent from outside that asks. */
export function authorOf(approval: Pick<ShownApproval, 'kind' | 'capo' | 'requestedBy'>): string {
  return isFromOutside(approval) ? approval.requestedBy.name : capoName(approval.capo);
}

const NOT_DECIDED: Record<ShownApproval['kind'], string> = {
  output: 'and is then not sent',
  standing_order: 'and is then not sent',
  budget_override: 'and is then not sent',
  action: 'and may then not be done',
  question: 'and is then not answered',
};

/** Who asks, how dangerous it is and why, and until when it can be decided. */
export function factBlocks(approval: ShownApproval, { zone }: Pick<Shown, 'zone'>): Block[] {
  const {
    kind,
    votes,
    waitingFor,
    requestedBy,
    risk,
    reversibility,
    urgent,
    expiresAt,
    onExpiry,
    policy,
    riskReasons,
  } = approval;
  const expiry = onExpiry === 'escalate' ? 'and is then escalated' : NOT_DECIDED[kind];
  const blocks: Block[] = [
    {
      kind: 'facts',
      facts: [
        ...(isFromOutside(approval) ? [] : ([['Drafted by', authorOf(approval)]] as const)),
        ['Asked for by', requestedBy.name],
        ['Risk', `${risk}; ${REVERSIBLE[reversibility] ?? reversibility}`],
        ...(urgent ? ([['Urgent', 'yes']] as const) : []),
        ...countOf(votes),
        ['Expires', `${inWords(expiresAt, zone)}, ${expiry}`],
      ],
    },
  ];
  if (waitingFor?.reason === 'approvers') blocks.push({ kind: 'warning', text: waitingFor.message });
  if (riskReasons.length > 0) {
    blocks.push({ kind: 'warning', text: `Why it is risky: ${riskReasons.join(' ')}` });
  }
  const why = (policy?.explanation ?? []).filter((reason) => !riskReasons.includes(reason));
  if (why.length > 0) {
    blocks.push({ kind: 'text', text: 'Why it needs an approval:' }, { kind: 'list', items: why });
  }
  const missing = approval.packets.flatMap(missingIn);
  if (missing.length > 0) {
    blocks.push(
      { kind: 'warning', text: 'Something is missing in the draft, so it cannot be approved yet:' },
      { kind: 'list', items: missing },
    );
  }
  return blocks;
}

/** How many people have approved it, where one is not enough. */
export function countOf({ have, need }: VoteCount): [string, string][] {
  return need > 1 ? [['Approvals', `${have} of ${need}`]] : [];
}

/** What has to be supplied for a work packet, by the names that a reader sees and not by those of its parameters. */
function missingIn({ title, needsInput }: ApprovalWorkPacket): string[] {
  return needsInput.map(({ path, message }) => `${nameOf(path)}, in “${title}”: ${wordsForPeople(message)}`);
}

/** A sentence that names parameters, with the names that a reader sees. */
export function wordsForPeople(message: string): string {
  return message.replaceAll(/\bparams(?:\.\w+)+/g, nameOf);
}

/** Of `params.arguments.email`: what a reader sees of it. */
export function nameOf(path: string): string {
  const names = path.split('.').slice(1);
  return names.length === 1 ? (NAMES.get(names[0]!) ?? names[0]!) : (names.at(-1) ?? 'The draft');
}

/** The complete draft: each work packet with all its parameters, and what else was written. */
export function draftBlocks(
  approval: Pick<ShownApproval, 'kind' | 'packets' | 'output' | 'question' | 'requestedBy' | 'policy'>,
  { bound }: Pick<Shown, 'bound'>,
): Block[] {
  const { kind, packets, output, question, requestedBy, policy } = approval;
  if (question) return questionBlocks(question, requestedBy.name);
  const room = new Room(bound);
  const shown = bound === Infinity ? packets : packets.slice(0, PACKETS_IN_MAIL);
  const blocks = shown.flatMap((packet, index) =>
    kind === 'action' ? actionBlocks(packet, policy?.amount, room) : packetBlocks(packet, index, room),
  );
  if (output && saysMoreThan(output.body, packets)) {
    blocks.push(
      { kind: 'heading', text: 'The draft as a whole' },
      { kind: 'quote', text: room.cut(output.body) },
    );
  }
  if (output?.remarks) {
    blocks.push(
      { kind: 'text', text: 'What its author says about it, which is not sent:' },
      { kind: 'quote', text: room.cut(output.remarks.text) },
    );
  }
  const left = packets.length - shown.length;
  if (room.isCut || left > 0) {
    blocks.push({
      kind: 'warning',
      text:
        'This mail does not show all of it: ' +
        (left > 0 ? `${left} more of ${packets.length} work packets` : `texts end with "[…]"`) +
        '. The page behind the link shows everything; read it there before you decide.',
    });
  }
  return blocks;
}

function packetBlocks(packet: ApprovalWorkPacket, index: number, room: Room): Block[] {
  const { action, title, reversibility, rationale } = packet;
  const short: [string, string][] = [
    ['Action', action.type],
    ...(reversibility === 'irreversible'
      ? ([['Afterwards', 'it cannot be taken back']] as [string, string][])
      : []),
  ];
  const long: Block[] = [];
  for (const [key, value] of inReadingOrder(action.params)) {
    const name = NAMES.get(key) ?? key;
    const text = wordsOf(value);
    if (text.length <= SHORT && text === oneLine(text)) short.push([name, room.cut(text)]);
    else long.push({ kind: 'text', text: `${name}:` }, { kind: 'quote', text: room.cut(text) });
  }
  if (oneLine(rationale) !== '') short.push(['Why', room.cut(oneLine(rationale))]);
  return [{ kind: 'heading', text: `${index + 1}. ${title}` }, { kind: 'facts', facts: short }, ...long];
}

/** What an agent from outside asks for: the exact call, and below it what the agent says of it. */
function actionBlocks(
  { action, title, rationale }: ApprovalWorkPacket,
  amount: string | undefined,
  room: Room,
): Block[] {
  const facts: [string, string][] = [['Tool', action.type]];
  if (amount !== undefined) facts.push(['Amount', amount]);
  const reason: Block[] = [
    { kind: 'text', text: 'What the agent gives as its reason, which nobody has checked:' },
    { kind: 'quote', text: room.cut(rationale) },
  ];
  return [
    { kind: 'heading', text: title },
    { kind: 'facts', facts },
    { kind: 'text', text: 'With exactly these parameters:' },
    { kind: 'quote', text: room.cut(exactly(action.params)) },
    ...(rationale === '' ? [] : reason),
  ];
}

/** What an agent from outside asks, as its own words: nothing of it can pass for a sentence of ours. */
function questionBlocks({ title, reason }: ApprovalQuestion, agent: string): Block[] {
  const why: Block[] = [
    { kind: 'text', text: 'What it gives as its reason, which nobody has checked:' },
    { kind: 'quote', text: reason ?? '' },
  ];
  return [
    { kind: 'text', text: `${agent} asks:` },
    { kind: 'quote', text: title },
    ...(reason === null ? [] : why),
  ];
}

/** As JSON, in which a character that cannot be seen stands as its number. */
function exactly(params: object): string {
  return JSON.stringify(params, null, 2).replace(
    /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    (character) =>
      Array.from({ length: character.length }, (_, unit) => {
        const code = character.charCodeAt(unit).toString(16).padStart(4, '0');
        return `\\u${code}`;
      }).join(''),
  );
}

/** A parameter that is known stands where {@link NAMES} has it, the others below: the database keeps them in an order of its own. */
function inReadingOrder(params: object): [string, unknown][] {
  return Object.entries(params).toSorted(([a], [b]) => readingRank(a) - readingRank(b));
}

export function readingRank(name: string): number {
  const known = [...NAMES.keys()];
  return known.includes(name) ? known.indexOf(name) : known.length;
}

export function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ');
  return JSON.stringify(value, null, 1);
}

/** The output is made of the work packets; it is shown beside them where it says anything else. */
function saysMoreThan(body: string, packets: readonly ApprovalWorkPacket[]): boolean {
  if (body.trim() === '') return false;
  return packets.length === 0 || body !== bodyOf(packets.map(({ action }) => action as unknown as Action));
}

function capoName(capo: string | null): string {
  return capo === null ? 'the consigliere' : (CAPOS[capo as CapoRole]?.name ?? capo);
}

/** How much of what others wrote still has room. */
class Room {
  isCut = false;

  constructor(private left: number) {}

  cut(text: string): string {
    if (text.length <= this.left) {
      this.left -= text.length;
      return text;
    }
    this.isCut = true;
    const shown = cutText(text, Math.max(this.left, 0), ' […]');
    this.left = 0;
    return shown;
  }
}
