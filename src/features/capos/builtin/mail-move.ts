import { LIMITS } from '../action-params.js';
import type { DraftPacket } from '../briefing.js';
import { addresseesOf, addressName, spokenPerson, type Addressee } from './addressee.js';
import { canDo, multipliersOf, relatedSignals, type Assignment, type Move } from './assignment.js';
import { profileLine, profileOf } from './buyers.js';
import { documentMove, withReplacements } from './document.js';
import { noEdits, tonedBy } from './edits.js';
import { envelopeFor } from './envelope.js';
import { pointsFor } from './mail-points.js';
import type { MailRequest } from './mail-request.js';
import { composeMail, type Mail, type MailParts } from './mail.js';
import type { Recipient } from './recipients.js';
import { clip, listed, oneLine, quotedInline } from './text.js';

/** A mail ready to leave; or, when something keeps it from leaving, the same text filed with the reason. */
export function mailMove(assignment: Assignment, request: MailRequest): Move {
  const { edits } = assignment;
  const asked = edits.to === null ? request.to : addresseesOf(edits.to);
  const envelope = envelopeFor(assignment, asked, request.cc);
  const { points, missingText, notes } = pointsFor(assignment, request);
  const mails = envelope.groups.map((readers) => {
    const parts = partsFor(assignment, request, asked, readers);
    return {
      readers,
      mail: finished(composeMail({ ...parts, points }, assignment.calendar), readers, assignment),
    };
  });
  const [first] = mails;
  if (first === undefined) throw new Error('a mail has at least one group of readers');

  const unclear = first.mail.unclear.map((word) => `“${word}”`).join(', ');
  if (unclear !== '') notes.push(`Left as written because somebody else may be meant: ${unclear}.`);
  if (request.when !== null)
    notes.push(`It leaves when it is approved; the instruction says ${request.when}.`);
  notes.push(...unusedReplacements(first.mail, assignment));

  const obstacles = [
    ...(points.length === 0 ? ['The instruction does not say what the mail is to tell.'] : []),
    ...missingText,
    ...missingAddress(envelope.missing, first.readers),
    ...unfilled(first.mail),
    ...(edits.documentOnly ? ['It is filed instead of sent, as asked.'] : []),
    ...(canDo(assignment, 'email.send')
      ? []
      : [
          `Sending mail is outside the ${assignment.capo.engine} engine: hand it to Ops, Revenue or Marketing.`,
        ]),
  ];
  return obstacles.length === 0
    ? sending(assignment, mails, envelope.copies, notes)
    : keeping(assignment, first.mail, points.length > 0, asked, first.readers, obstacles, notes);
}

interface Addressed {
  mail: Mail;
  readers: Recipient[];
}

function partsFor(
  { briefing, edits }: Assignment,
  request: MailRequest,
  asked: readonly Addressee[],
  readers: readonly Recipient[],
): Omit<MailParts, 'points'> {
  const unknown = asked.filter(({ email }) => email === null);
  const team = asked.length === 1 && unknown.some(({ text }) => /\b(?:team|staff|board)\b/i.test(text));
  const group = readers.length > 3 || (readers.length !== 1 && asked.some(({ plural }) => plural));
  return {
    readers: readers.length > 0 ? readers : asked.filter(({ generic }) => !generic),
    audience: team ? 'team' : group ? 'group' : 'person',
    subject: edits.subject ?? request.subject,
    tone: tonedBy(request.tone, edits),
    senderName: edits.signature ?? briefing.sender.name,
    workspaceName: briefing.workspace.name,
  };
}

const NAME_FIELD = /\[(?:first |full |customer |client )?name\]|\{\{\s*(?:first_?)?name\s*\}\}/gi;

/** Replacements that were asked for, and the reader's name where the operator's own template has a field for it. */
function finished(mail: Mail, readers: readonly Recipient[], { edits }: Assignment): Mail {
  const name = readers.length === 1 && readers[0] ? addressName(readers[0]) : null;
  const fill = (text: string) =>
    name === null
      ? text.replace(/(?<=^(?:hi|hello|hey) )\[(?:first )?name\]/i, 'there')
      : text.replace(NAME_FIELD, () => name);
  const replaced = (text: string) => withReplacements(text, edits.replacements);
  return {
    ...mail,
    subject: subjectOf(replaced(mail.subject)),
    body: clip(replaced(fill(mail.body)), LIMITS.mail - 10),
  };
}

function subjectOf(text: string): string {
  return clip(oneLine(text), LIMITS.title - 20) || 'A message';
}

function unusedReplacements(mail: Mail, { edits }: Assignment): string[] {
  const text = `${mail.subject}\n${mail.body}`.toLowerCase();
  const unused = edits.replacements.filter(({ to }) => !text.includes(to.toLowerCase()));
  return unused.map(({ from }) => `“${quotedInline(from, 80)}” is not in it.`);
}

function missingAddress(missing: readonly Addressee[], found: readonly Recipient[]): string[] {
  if (missing.length === 0) return found.length === 0 ? ['It names no recipient.'] : [];
  const who = missing.slice(0, 5).map(({ name, text }) => name ?? `“${quotedInline(text, 60)}”`);
  return [`There is no address for ${listed(who)}: put it in the instruction or in the context as \`to\`.`];
}

const FIELD = /\[(?!\s|x\])[^\][\n]{1,40}\](?!\()|\{\{[^{}\n]{1,40}\}\}/gi;

/** A template that still waits for a value is not finished, whoever wrote it. */
function unfilled({ subject, body }: Mail): string[] {
  const fields = [...new Set(`${subject}\n${body}`.match(FIELD) ?? [])];
  return fields.length === 0
    ? []
    : [`Its text still waits for ${listed(fields.slice(0, 5).map((one) => `“${one}”`))}.`];
}

function sending(
  assignment: Assignment,
  mails: readonly Addressed[],
  copies: readonly Recipient[],
  notes: string[],
): Move {
  const everybody = mails.flatMap(({ readers }) => readers);
  const who =
    listed(everybody.slice(0, 3).map(spokenPerson)) +
    (everybody.length > 3 ? ` and ${everybody.length - 3} more` : '');
  const subject = mails[0]?.mail.subject ?? '';
  const apart = mails.length > 1 ? ' (to each alone)' : '';
  const copied = copies.length === 0 ? '' : ` with a copy to ${listed(copies.slice(0, 3).map(spokenPerson))}`;
  const head = [
    `**To:** ${who}${apart}`,
    ...(copies.length === 0 ? [] : [`**Cc:** ${listed(copies.map(spokenPerson))}`]),
    `**Subject:** ${subject}`,
  ];
  return {
    // One copy is enough for whoever gets one, however many mails there are.
    packets: mails.map(({ mail, readers }, at) =>
      packetOf(assignment, mail, readers, at === 0 ? copies : []),
    ),
    section: [head.join('  \n'), '---', mails[0]?.mail.body ?? ''].join('\n\n'),
    summary: `A mail to ${who}${apart}${copied} is ready: “${subject}”.`,
    notes,
  };
}

function packetOf(
  assignment: Assignment,
  mail: Mail,
  readers: readonly Recipient[],
  copies: readonly Recipient[],
): Omit<DraftPacket, 'needsInput'> {
  const { briefing } = assignment;
  const matter = `${mail.subject} ${briefing.directive.text}`;
  const names = readers.slice(0, 2).map(({ name, email }) => name ?? email);
  const buyers = readers.slice(0, 5).flatMap((person) => {
    const profile = profileOf(person, briefing.buyerContext.profiles);
    return profile === undefined ? [] : [profileLine(person.name ?? person.email, profile)];
  });
  const signals = relatedSignals(assignment, matter).slice(0, 2);
  const rationale = [
    `The instruction asks for a mail to ${listed(names)}.`,
    ...buyers,
    ...signals.map(({ title }) => `Related signal: ${quotedInline(title, 120)}.`),
  ];
  return {
    title: clip(`Mail to ${listed(names)}: ${mail.subject}`, LIMITS.title),
    type: 'email.send',
    target: clip(readers.map(({ email }) => email).join(', '), 500),
    params: {
      to: readers.map(({ email }) => email),
      ...(copies.length > 0 ? { cc: copies.map(({ email }) => email) } : {}),
      subject: mail.subject,
      body: mail.body,
    },
    rationale: rationale.filter((line) => line !== '').join(' '),
    multipliers: multipliersOf(assignment, matter),
  };
}

/** The text is not lost with the obstacle: it is filed, ready to be copied or to be sent after the next round. */
function keeping(
  assignment: Assignment,
  mail: Mail,
  hasText: boolean,
  asked: readonly Addressee[],
  readers: readonly Recipient[],
  obstacles: string[],
  notes: string[],
): Move {
  const people =
    readers.length > 0 ? readers : asked.filter(({ name, email }) => name !== null || email !== null);
  const whom = listed(people.slice(0, 3).map(({ name, email }) => name ?? email ?? ''));
  const title = ['Mail', whom === '' ? '' : ` to ${whom}`, hasText ? `: ${mail.subject}` : ''].join('');
  // The changes asked for are in the mail already; applied again to the page around it they would cut it.
  const unedited = { ...assignment, edits: noEdits() };
  return documentMove(
    unedited,
    {
      title,
      sections: [
        { heading: 'Before it can be sent', lines: obstacles.map((line) => `- ${line}`) },
        { heading: 'Text', lines: hasText ? [`**Subject:** ${mail.subject}`, mail.body] : [] },
      ],
    },
    {
      summary: `${hasText ? 'The mail is written but not sent.' : 'The mail is not written.'} ${obstacles.join(' ')}`,
      rationale: 'The instruction asks for a mail that cannot leave as it stands, so its text is filed.',
      notes,
    },
  );
}
