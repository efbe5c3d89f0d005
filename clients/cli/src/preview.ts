import type { ApprovalView } from '@consigliere/sdk';
import { bullet, onOneLine, styled, styleOf, terminalWidth, time, visible, when, wrapped } from './output.js';

/** What was decided, by whom and when; empty while it waits. */
export function decisionOn({ status, decidedBy, decidedAt }: ApprovalView): string {
  if (status === 'pending' || decidedAt === null) return '';
  const by = decidedBy ? ` by ${visible(decidedBy.name)}` : '';
  const words = status === 'changes_requested' ? 'was sent back for another draft' : `was ${status}`;
  return `It ${status === 'expired' ? 'expired' : words + by}, ${time(decidedAt)}.`;
}

/** All that a person has to read before deciding: every parameter whole, and what nobody vouches for named as a claim. */
export function preview(approval: ApprovalView): string {
  const { approvalId, status, agent, capo, risk, reversibility, votes, waitingFor, contentHash } = approval;
  const facts = [
    status,
    agent ? `agent ${agent.name}` : (capo ?? ''),
    `risk ${risk}`,
    reversibility.replace('_', ' '),
    status === 'pending' ? `expires ${when(approval.expiresAt)}` : '',
    ...(votes.need > 1 ? [`${votes.have} of ${votes.need} votes`] : []),
  ];
  const lines = [
    styled('bold', wrapped(onOneLine(approval.title), '')),
    wrapped(facts.filter(Boolean).join(' · '), ''),
    styled('dim', approvalId),
    '',
  ];
  for (const reason of approval.riskReasons)
    lines.push(styled(styleOf(risk) ?? 'yellow', bullet('!', reason)));
  for (const reason of approval.policy?.explanation ?? []) lines.push(bullet('·', reason));
  if (approval.policy?.amount) lines.push(`· Amount: ${approval.policy.amount}`);
  if (approval.question) lines.push('', ...questionLines(approval.question));
  if (approval.output) {
    lines.push('', styled('bold', onOneLine(approval.output.summary)), wrapped(approval.output.body, '    '));
    const { remarks } = approval.output;
    if (remarks) lines.push('', wrapped(`${remarks.engine.name} remarks: ${remarks.text}`, '  '));
  }
  for (const packet of approval.packets) {
    const { type, target, params } = packet.action;
    const about = visible(
      `${type}${target ? ` → ${target}` : ''}  (${packet.reversibility.replace('_', ' ')})`,
    );
    lines.push('', `${styled('bold', about)}  ${styled('dim', packet.workPacketId)}`, paramsLines(params));
    // Behind a margin of its own, so that nothing in it looks like a parameter.
    if (packet.rationale)
      lines.push(`  ${agent ? 'The agent claims' : 'Why'}:`, wrapped(packet.rationale, '  > '));
    for (const { path, message } of packet.needsInput)
      lines.push(styled('yellow', wrapped(`${path}: ${message}`, '  ! ')));
    const editors = packet.edits.map(({ path, by }) => `${path} by ${by.name}`);
    if (editors.length > 0) lines.push(wrapped(`Edited: ${editors.join(', ')}`, '  '));
  }
  if (approval.feedback) lines.push('', wrapped(`Feedback: ${approval.feedback}`, ''));
  lines.push('', wrapped(decisionOn(approval), ''));
  lines.push('', `Asked by ${visible(approval.requestedBy.name)} ${when(approval.requestedAt)}.`);
  // The title is that of the directive until there is a draft, and cut.
  if (approval.directiveId && approval.title.endsWith('…'))
    lines.push(`The whole directive: consigliere directives get ${approval.directiveId}`);
  if (waitingFor && waitingFor.reason !== 'decision')
    lines.push(styled('yellow', wrapped(waitingFor.message, '')));
  if (contentHash) lines.push(styled('dim', `Content hash ${contentHash}`));
  return lines.filter((line, at) => line !== '' || lines[at - 1] !== '').join('\n');
}

function questionLines({ title, reason, answerSchema }: NonNullable<ApprovalView['question']>): string[] {
  return [
    styled('bold', onOneLine(title)),
    ...(reason ? ['  The agent claims:', wrapped(reason, '  > ')] : []),
    ...Object.entries(fieldsOf(answerSchema)).map(([name, field]) =>
      wrapped(
        `${name}: ${[field.title, field.description, choicesOf(field)?.join(' | ')].filter(Boolean).join('. ') || field.type}`,
        '  ',
      ),
    ),
  ];
}

/** A field of an answer's schema, which is flat (MCP elicitation). */
export interface AnswerField {
  type?: string;
  title?: string;
  description?: string;
  enum?: string[];
  oneOf?: { const: string }[];
  anyOf?: { const: string }[];
  items?: AnswerField;
}

/** What an answer can be, where that is a choice; of a list, what may be in it. */
export function choicesOf({ enum: choices, oneOf, anyOf, items }: AnswerField): string[] | undefined {
  return choices ?? (oneOf ?? anyOf)?.map((choice) => choice.const) ?? (items && choicesOf(items));
}

export function fieldsOf(answerSchema: object): Record<string, AnswerField> {
  return (answerSchema as { properties?: Record<string, AnswerField> }).properties ?? {};
}

function paramsLines(params: object): string {
  return Object.entries(params)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
      const isLong = text.includes('\n') || name.length + text.length > Math.min(70, terminalWidth() - 6);
      return isLong
        ? `  ${styled('dim', `${onOneLine(name)}:`)}\n${wrapped(text, '    ')}`
        : wrapped(`${name}: ${text}`, '  ');
    })
    .join('\n');
}
