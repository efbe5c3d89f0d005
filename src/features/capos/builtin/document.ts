import type { DraftPacket } from '../briefing.js';
import { LIMITS } from '../action-params.js';
import { DraftTooLarge } from '../draft-bounds.js';
import type { Assignment, Move } from './assignment.js';
import { multipliersOf } from './assignment.js';
import type { Edits } from './edits.js';
import { clip, keywords, plain, quotedInline, sentence, sharedKeywords } from './text.js';

export interface Section {
  heading: string;
  /** Markdown blocks: paragraphs or list entries ("- ..."). */
  lines: string[];
}

export interface Document {
  title: string;
  sections: Section[];
}

/** The document as its readers see it, after the changes that the operator asked for. */
function edited(document: Document, { edits }: Assignment): { document: Document; notes: string[] } {
  const notes: string[] = [];
  let sections = document.sections.filter(({ lines }) => lines.length > 0);
  for (const drop of edits.drops) {
    const kept = sections
      .filter(({ heading }) => !mentions(heading, drop))
      .map((section) => ({ ...section, lines: section.lines.filter((line) => !mentions(line, drop)) }))
      .filter(({ lines }) => lines.length > 0);
    if (lineCount(kept) === lineCount(sections))
      notes.push(`Nothing in it mentioned “${quotedInline(drop, 80)}”.`);
    else if (kept.length > 0) sections = kept;
  }
  if (edits.additions.length > 0) {
    const lines = edits.additions.map(
      (text) => `- ${sentence(quotedInline(text.replace(/^that\s+/i, ''), 2_000))}`,
    );
    sections = [...sections, { heading: 'Also', lines }];
  }
  if (edits.to !== null || edits.alsoTo.length + edits.cc.length > 0)
    notes.push('It is a document, so it goes to nobody.');
  const replaced = (text: string) => withReplacements(text, edits.replacements);
  return {
    document: {
      title: edits.subject ?? replaced(document.title),
      sections: sections.map(({ heading, lines }) => ({
        heading: replaced(heading),
        lines: lines.map(replaced),
      })),
    },
    notes,
  };
}

/** Whether a sentence is about what a person calls "the price" or "the part about delivery". */
export function mentions(text: string, what: string): boolean {
  const wanted = keywords(what);
  if (wanted.size === 0) return text.toLowerCase().includes(what.trim().toLowerCase());
  return sharedKeywords(wanted, keywords(text)) === wanted.size;
}

/** Literal, and blind to case like the person who asked for it. Throws `DraftTooLarge` for what multiplies the text. */
export function withReplacements(text: string, replacements: Edits['replacements']): string {
  return replacements.reduce((all, { from, to }) => {
    if (from === '') return all;
    const pattern = new RegExp(from.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`), 'giu');
    let length = all.length;
    for (const [match] of all.matchAll(pattern)) {
      length += to.length - match.length;
      if (length > LIMITS.document)
        throw new DraftTooLarge('The replacements asked for make the text too long.');
    }
    return all.replace(pattern, () => to);
  }, text);
}

function lineCount(sections: readonly Section[]): number {
  return sections.reduce((count, { lines }) => count + lines.length, 0);
}

function markdown({ title, sections }: Document): string {
  const parts = sections.map(({ heading, lines }) => [`## ${heading}`, '', ...joined(lines)].join('\n'));
  return [`# ${title}`, ...parts].join('\n\n');
}

/** A blank line between paragraphs, none between the entries of a list. */
function joined(lines: readonly string[]): string[] {
  return lines.flatMap((line, at) =>
    at > 0 && !(isEntry(line) && isEntry(lines[at - 1] ?? '')) ? ['', line] : [line],
  );
}

const isEntry = (line: string) => /^(?:- |\d+\. )/.test(line);

/** Files the document; what it says may be cut at the registry's limit, never refused for its length. */
function filing(
  assignment: Assignment,
  document: Document,
  rationale: string,
): Omit<DraftPacket, 'needsInput'> {
  const title = clip(
    plain(document.title, LIMITS.title).replace(/\s+/g, ' ') || 'Document',
    LIMITS.title - 10,
  );
  return {
    title: clip(`Document: ${title}`, LIMITS.title),
    type: 'document.file',
    target: 'documents',
    params: { title, body: clip(markdown(document), LIMITS.document - 10) },
    rationale,
    multipliers: multipliersOf(assignment, assignment.briefing.directive.text),
  };
}

export function documentMove(
  assignment: Assignment,
  draft: Document,
  { summary, rationale, notes = [] }: { summary: string; rationale: string; notes?: string[] },
): Move {
  const { document, notes: editNotes } = edited(draft, assignment);
  return {
    packets: [filing(assignment, document, rationale)],
    section: markdown(document),
    summary,
    notes: [...notes, ...editNotes],
  };
}
