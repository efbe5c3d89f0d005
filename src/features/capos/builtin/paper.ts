import type { Assignment, Move } from './assignment.js';
import { factsIn, orderSection, signalSection } from './background.js';
import { buyerLines, gapAnswer, gapDoubt } from './buyers.js';
import { findDates, type Calendar } from './calendar.js';
import { documentMove, type Section } from './document.js';
import { essentialSentences } from './essence.js';
import { isThing } from './mail-content.js';
import { worded } from './mail-wording.js';
import { scheduled, stepsFor } from './method.js';
import { withSpokenDates } from './spoken-dates.js';
import { capitalised, clip, oneLine, plain, quotedInline, sentence, withoutStop } from './text.js';

/** Briefs, plans, checklists, outlines and summaries: what a capo hands over when nothing is to leave the house. */

type Form = 'Brief' | 'Plan' | 'Checklist' | 'Outline' | 'Summary';

/** The first that fits; anything else is a brief. */
const FORMS: readonly (readonly [pattern: RegExp, form: Form])[] = [
  [
    /^\S+\s+(?:an?|the)\s+(?:\S+\s+){0,2}?(?:brief(?:ing)?|report|analysis|overview|memo|comparison)\b/i,
    'Brief',
  ],
  [/\b(?:check-?list|to-?dos?|task list)\b/i, 'Checklist'],
  [/^(?:summari[sz]e|recap|sum up)\b|\bsummary\b/i, 'Summary'],
  [/\b(?:post|article|blog|newsletter|copy|script|announcement|release notes|changelog|faq)\b/i, 'Outline'],
  [/\b(?:landing page|press release|advert|headline)\b/i, 'Outline'],
  [
    /^(?:plan|schedule|organi[sz]e|prepare|arrange|set up|launch|build|create|run|start|publish|book)\b/i,
    'Plan',
  ],
  [/\b(?:plan|roadmap|campaign|schedule|timeline)\b/i, 'Plan'],
];

interface Topic {
  /** A heading: "Roadmap". */
  title: string;
  /** Inside a sentence: "the roadmap". */
  phrase: string;
}

export function paperMove(assignment: Assignment, step: string): Move {
  const form = FORMS.find(([pattern]) => pattern.test(step))?.[1] ?? 'Brief';
  const topic = topicOf(step, assignment.calendar);
  const sections = [
    { heading: 'Task', lines: [sentence(withSpokenDates(quotedInline(step, 4_000), assignment.calendar))] },
    ...mainSections(assignment, form, topic, step),
    factsIn(assignment, step),
    {
      heading: 'Buyers',
      lines: concernsBuyers(assignment, step)
        ? buyerLines(assignment.briefing.buyerContext).map((line) => `- ${line}`)
        : [],
    },
    signalSection(assignment, step),
    orderSection(assignment),
  ];
  const title = `${form}: ${topic.title}`;
  return documentMove(
    assignment,
    { title, sections },
    {
      summary: `A document is ready to be filed: “${title}”.`,
      rationale: 'The instruction asks for a document; nothing in it is sent to anybody.',
    },
  );
}

/** Moving an office has nothing to do with buyers, unless somebody says so. */
function concernsBuyers({ capo }: Assignment, step: string): boolean {
  return capo.engine !== 'ops' || /\b(?:customers?|buyers?|clients?|prospects?|leads?|users?)\b/i.test(step);
}

const COMMAND =
  /^(?:summari[sz]e|recap|sum up|brief(?: me| us)?(?: on| about)?|plan|list|outline|analy[sz]e|review|report(?: on)?|compile|research|compare|create|make|build|write|draft|prepare|publish|collect|gather|define|describe|document|track|find(?: out)?|identify|estimate|evaluate|file|note|produce|propose|suggest|update|schedule|organi[sz]e|give (?:me|us)|put together|come up with)\b\s*/i;
const FORM_PHRASE =
  /^(?:(?:an?|the|our|my|me|us)\s+)*(?:(?:short|brief|detailed|quick|one-page|full|new|simple|complete)\s+)*(?:check-?list|to-?do list|task list|summary|brief(?:ing)?|plan|outline|report|overview|analysis|note|memo|document|recap)\s+(?:for|of|on|about|to|with|covering)\s+/i;

/** "a LinkedIn post about X": the headline is X. */
const PIECE =
  /^(?:(?:an?|the|our)\s+)?(?:[\p{L}-]+\s+){0,3}?(?:post|article|blog|newsletter|copy|script|announcement|release|advert|faq)\s+(?:about|on|announcing|saying|explaining|to announce)\s+(?:that\s+)?/iu;

function topicOf(step: string, calendar: Calendar): Topic {
  const line = oneLine(step, 600).replace(/["“”]/g, '');
  // Any verb in front of "the", "a" or "our" is the command; the others have to be known.
  const command = line.match(COMMAND)?.[0] ?? line.match(/^\p{L}+\s+(?=(?:the|an?|our|my)\s)/iu)?.[0] ?? '';
  const object =
    line
      .slice(command.length)
      .replace(FORM_PHRASE, '')
      .replace(PIECE, '')
      .split(/[:;]\s|[.!?]\s/)[0] ?? '';
  const named = clip(withoutStop(withoutDueDate(object, calendar)), 120);
  if (named === '')
    return { title: quotedInline(capitalised(clip(withoutStop(line), 120)) || 'Note', 150), phrase: 'this' };
  const spoken = withSpokenDates(named, calendar);
  return {
    title: quotedInline(capitalised(spoken.replace(/^(?:an?|the|our|my)\s+/i, '')), 150),
    // Without a verb that was understood, the words are a sentence and don't fit into another one.
    phrase: command === '' || !isThing(`${named} `) ? 'this' : quotedInline(spoken, 150),
  };
}

/** "by 15 January" at the end says when, not what. */
function withoutDueDate(text: string, calendar: Calendar): string {
  const last = findDates(text, calendar).at(-1);
  if (last === undefined || /[\p{L}\p{N}]/u.test(text.slice(last.index + last.text.length))) return text;
  return text.slice(0, last.index).replace(/\s+(?:by|on|before|until|till|for|from|due)\s*$/i, '');
}

/** "with: a, b and c", "covering a, b and c", or lines with bullets. */
function itemsIn(step: string): string[] {
  const bullets = [...step.matchAll(/^\s*(?:[-*•]|\d{1,2}[.)])\s+(.{1,500})$/gmu)].map(
    (match) => match[1] ?? '',
  );
  const list = step.match(/(?::|\b(?:with|covering|including|such as|listing))\s+(?<list>[^:\n]{3,1000})$/i);
  const parts =
    bullets.length > 0 ? bullets : (list?.groups?.list ?? '').split(/\s*[,;]\s*(?:and\s+)?|\s+and\s+/i);
  const items = parts.map((item) => withoutStop(oneLine(item))).filter((item) => /[\p{L}\p{N}]/u.test(item));
  return items.length > 1 || bullets.length > 0 ? items.slice(0, 50) : [];
}

function mainSections(assignment: Assignment, form: Form, { title, phrase }: Topic, step: string): Section[] {
  const { calendar } = assignment;
  const items = itemsIn(step).map((item) => quotedInline(capitalised(withSpokenDates(item, calendar)), 500));
  const listed = items.map((item) => `- ${item}`);
  const steps = () => stepsFor(assignment, phrase);
  switch (form) {
    case 'Summary':
      return [...essence(assignment), { heading: 'Points', lines: listed }];
    case 'Checklist':
      return [
        { heading: 'Checklist', lines: scheduled(assignment, items.length > 0 ? items : steps(), 'boxes') },
      ];
    case 'Plan':
      return [
        { heading: 'Scope', lines: listed },
        { heading: 'Steps', lines: scheduled(assignment, steps(), 'numbers') },
      ];
    case 'Outline':
      return [
        { heading: 'Headline', lines: [title] },
        { heading: 'Text', lines: announced(assignment, step) },
        { heading: 'Content', lines: listed },
        { heading: 'Structure', lines: structure(assignment, phrase, items.length > 0) },
      ];
    case 'Brief':
      return items.length > 0
        ? [{ heading: 'Points', lines: listed }]
        : [{ heading: 'Next steps', lines: scheduled(assignment, steps(), 'numbers') }];
  }
}

/** Long text in the context is what "summarise this" means. */
function essence({ briefing }: Assignment): Section[] {
  const texts = Object.values(briefing.directive.context ?? {}).filter((value) => typeof value === 'string');
  return texts
    .filter((text) => text.length > 200)
    .slice(0, 3)
    .map((text) => ({
      heading: 'In short',
      lines: essentialSentences(plain(text, 20_000), 5).map((each) => `- ${quotedInline(each, 500)}`),
    }));
}

/** "a post announcing that we open on Monday" says what the post says. */
function announced({ calendar }: Assignment, step: string): string[] {
  const clause = step.match(
    /\b(?:announcing|saying|telling [^.]{1,60}?|that says)\s+(?:that\s+)?(?<clause>[\s\S]{3,2000})$/i,
  )?.groups?.clause;
  if (clause === undefined) return [];
  const act = /\b(?:is|are|was|were|has|have|will|can|we|I|you|it)\b/i.test(clause)
    ? 'announce-that'
    : 'announce';
  return worded([{ act, text: clause }], { names: [], plural: true }, calendar).paragraphs;
}

function structure({ briefing }: Assignment, phrase: string, hasItems: boolean): string[] {
  const { topGap } = briefing.buyerContext.aggregate;
  const doubt = gapDoubt(topGap);
  const middle = hasItems
    ? 'Take the points above in order, one short paragraph each.'
    : phrase === 'this'
      ? 'Say what it is and for whom.'
      : `Say what ${phrase} is about and for whom it is.`;
  return [
    '1. Open with what changes for the reader, in one sentence.',
    `2. ${middle}`,
    `3. ${doubt === null ? 'Add one concrete example.' : `Answer what buyers ask themselves now: ${doubt}. ${gapAnswer(topGap) ?? ''}`.trim()}`,
    '4. End with a single thing to do, and the date until which it counts.',
  ];
}
