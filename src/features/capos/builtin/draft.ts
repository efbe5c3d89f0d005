import type { Briefing, DraftContent } from '../briefing.js';
import { assignmentOf, type Assignment, type Move } from './assignment.js';
import { noEdits, readFeedback } from './edits.js';
import { readInstruction, type Step } from './instruction.js';
import { mailMove } from './mail-move.js';
import { paperMove } from './paper.js';
import { alertMove, delegationMove, outgoingMove, revenueMove } from './small-moves.js';
import { strategicBriefMove } from './strategic-brief.js';
import { clip, plain, READABLE } from './text.js';

/** A directive of more parts than this is a project; the rest is named, not silently lost. */
const MAX_MOVES = 10;

/** From instruction to draft: read the steps, make one move of each, say what was done and what is missing. */
export function draftFrom(briefing: Briefing): DraftContent {
  const edits = noEdits();
  const assignment = assignmentOf(briefing, edits);
  const text = plain(briefing.directive.text);
  const { steps, background } = readInstruction(text, assignment.calendar, edits);
  // After the instruction, so that "longer" wins over its "keep it short".
  readFeedback(briefing.feedback, edits);
  const wanted: Step[] =
    steps.length > 0 ? steps : [{ kind: 'document', text: text === '' ? 'Brief' : text }];
  const moves = wanted.slice(0, MAX_MOVES).map((step) => moveOf(step, assignment));
  const notes = [
    ...moves.flatMap((move) => move.notes),
    ...(background.length > 0
      ? [`Taken as background and left out: ${background.map((each) => `“${clip(each, 150)}”`).join(' ')}`]
      : []),
    ...(wanted.length > MAX_MOVES
      ? [`Only the first ${MAX_MOVES} of ${wanted.length} parts were drafted.`]
      : []),
    ...(briefing.directive.text.length > READABLE
      ? [`Only the first ${READABLE} characters were read.`]
      : []),
    ...editNotes(assignment),
  ];
  return {
    remarks: clip([...moves.map(({ summary }) => summary), ...new Set(notes)].join(' '), 4_000),
    packets: moves.flatMap(({ packets }) => packets.map((packet) => ({ ...packet, needsInput: [] }))),
    concerns: [],
  };
}

function moveOf(step: Step, assignment: Assignment): Move {
  switch (step.kind) {
    case 'mail':
      return mailMove(assignment, step.mail);
    case 'revenue':
      return revenueMove(assignment, step.entry, step.text);
    case 'outgoing':
      return outgoingMove(assignment, step.text);
    case 'alert':
      return alertMove(assignment, step.alert);
    case 'delegation':
      return delegationMove(assignment, step.delegation);
    case 'document':
      return assignment.capo.engine === 'executive' && STRATEGIC.test(step.text)
        ? strategicBriefMove(assignment, step.text)
        : paperMove(assignment, step.text);
  }
}

/** What the CEO capo answers with a page on the state of things; anything else it is given is a paper like any other. */
const STRATEGIC =
  /\b(?:brief|report|overview|strateg\w*|status|where (?:do )?we stand|priorit\w+|focus|week|morning|board|decide|decision|summary|summari[sz]e|review|how are we|what should)\b/i;

function editNotes({ edits }: Assignment): string[] {
  const asked = edits.changes.filter(({ round }) => round > 0);
  const rounds = [...new Set(asked.map(({ round }) => round))];
  return [
    ...rounds.map(
      (round) =>
        `Changed as asked in round ${round}: ${asked
          .filter((one) => one.round === round)
          .map(({ text }) => text)
          .join('; ')}.`,
    ),
    ...(edits.notUnderstood.length > 0
      ? [
          `Not understood: ${edits.notUnderstood.map((each) => `“${clip(each, 120)}”`).join(', ')}. The built-in capo follows plain requests such as “shorter”, “more formal”, “add that …”, “drop the …”, “change the subject to …” or “address it to …”.`,
        ]
      : []),
  ];
}
