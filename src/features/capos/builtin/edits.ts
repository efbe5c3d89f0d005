import { cutText } from '../../../platform/kernel/text.js';
import { oneLine, plain, quotedInline, withoutStop } from './text.js';
import { NEUTRAL, type Tone } from './tone.js';

/**
 * What "request changes" asks for, as far as words can say it. Every round is read in order and the draft is made
 * again from the instruction with all of them, so that round three doesn't undo round one.
 */
export interface Edits {
  tone: Partial<Tone>;
  subject: string | null;
  /** Replaces everybody who was addressed. */
  to: string | null;
  alsoTo: string[];
  cc: string[];
  signature: string | null;
  additions: string[];
  drops: string[];
  replacements: { from: string; to: string }[];
  /** "don't send it, just file it" */
  documentOnly: boolean;
  /** What was understood, for the summary; `round` lets it say which request it answers. */
  changes: { round: number; text: string }[];
  notUnderstood: string[];
}

interface Rule {
  pattern: RegExp;
  apply: (edits: Edits, groups: Readonly<Record<string, string | undefined>>) => string;
}

const quoted = (text: string) => `“${quotedInline(text, 120)}”`;
const unquoted = (text = '') => oneLine(text.trim().replace(/^["“'‘]+|["”'’]+$/g, ''), 2_000);

const retoned = (change: Partial<Tone>, text: string) => (edits: Edits) => {
  edits.tone = { ...edits.tone, ...change };
  return text;
};

/** In order: the first rule that fits a request reads it. Each answers what it did, in the past tense. */
const RULES: readonly Rule[] = [
  {
    pattern:
      /^(?:change|set|make|use)?\s*(?:the\s+)?(?:subject|title|headline)(?:\s+line)?\s*(?:to|should (?:be|say|read)|is|as|:)?\s*:?\s*(?<text>\S[\s\S]*)$/i,
    apply: (edits, { text }) => {
      edits.subject = withoutStop(unquoted(cutText(text ?? '', 200, '')));
      return `changed the subject to ${quoted(edits.subject)}`;
    },
  },
  {
    pattern: /^(?:use|with)\s+(?<text>["“][^"“”]{1,200}["”])\s+as\s+(?:the\s+)?(?:subject|title|headline)\b/i,
    apply: (edits, { text }) => {
      edits.subject = withoutStop(unquoted(text));
      return `changed the subject to ${quoted(edits.subject)}`;
    },
  },
  {
    pattern:
      /^(?:cc|copy(?: in)?|put|add)\s*:?\s*(?<who>[^;]{1,300}?)\s*(?:in|on|to|into)\s+(?:the\s+)?(?:cc|copy)$|^(?:cc|copy(?: in)?)\s*:?\s+(?<also>[^;]{1,300})$/i,
    apply: (edits, { who, also }) => {
      edits.cc.push(unquoted(who ?? also));
      return `copied it to ${quoted(edits.cc.at(-1) ?? '')}`;
    },
  },
  {
    pattern:
      /^(?:also\s+)?(?:send|address)\s+(?:it\s+)?(?:also\s+)?to\s+(?<also>[^;]{1,300}?)(?:\s+(?:too|as well))$|^also\s+(?:send|address)\s+(?:it\s+)?to\s+(?<more>[^;]{1,300})$|^add\s+(?<who>[^;]{1,300}?)\s+(?:as\s+(?:an?\s+)?(?:recipients?|addressees?)|to\s+the\s+recipients?)$/i,
    apply: (edits, { also, more, who }) => {
      const person = unquoted(also ?? more ?? who);
      edits.alsoTo.push(person);
      return `added ${quoted(person)} as a recipient`;
    },
  },
  {
    pattern:
      /^(?:please\s+)?(?:address|send|direct|mail|e-?mail)\s+(?:it|this|the (?:e-?mail|mail|message|letter))?\s*(?:instead\s+)?to\s+(?<who>[^;]{1,300}?)(?:\s+instead)?$|^(?:to|recipient|change the recipient to)\s*:?\s+(?<as>[^;]{0,100}@[^;]{1,200})$/i,
    apply: (edits, { who, as }) => {
      edits.to = unquoted(who ?? as);
      return `addressed it to ${quoted(edits.to)}`;
    },
  },
  {
    pattern: /^sign\s+(?:it\s+)?(?:off\s+)?(?:as|with|from|by)\s+(?<who>[^;\n]{1,120})$/i,
    apply: (edits, { who }) => {
      edits.signature = withoutStop(unquoted(who));
      return `signed it as ${quoted(edits.signature)}`;
    },
  },
  {
    pattern:
      /^(?:replace|change|swap)\s+(?!(?:the\s+)?(?:tone|style|length)\b)(?<from>.{1,300}?)\s+(?:with|to|by|for)\s+(?<to>.{1,300})$|^(?:say|write|use|put)\s+(?<new>.{1,300}?)\s+instead\s+of\s+(?<old>.{1,300})$/is,
    apply: (edits, { from, to, new: wanted, old }) => {
      const replacement = { from: unquoted(from ?? old), to: unquoted(to ?? wanted) };
      edits.replacements.push(replacement);
      return `replaced ${quoted(replacement.from)} with ${quoted(replacement.to)}`;
    },
  },
  {
    pattern:
      /^(?:drop|remove|delete|cut|omit|skip|leave out|take out|get rid of|without|no|don['’]?t (?:mention|include|say|talk about)|do not (?:mention|include|say|talk about)|strike)\s+(?<what>[\s\S]{1,300})$/i,
    apply: (edits, { what = '' }) => {
      const subject = unquoted(what).replace(
        /^(?:the\s+)?(?:part|bit|sentence|line|paragraph|section|mention)s?\s+(?:about|on|with|of)\s+/i,
        '',
      );
      edits.drops.push(subject);
      return `dropped what it said about ${quoted(subject)}`;
    },
  },
  {
    pattern:
      /^(?:please\s+)?(?:also\s+)?(?<verb>(?:add|mention|include|say|state|note|point out)\b|(?=(?:ask|tell|remind|thank|apologi[sz]e|invite|let)\s))\s*:?\s*(?<text>[\s\S]{1,2000})$/i,
    apply: (edits, { text = '' }) => {
      edits.additions.push(plain(text));
      return `added ${quoted(text)}`;
    },
  },
  {
    pattern:
      /\b(?:don['’]?t send|do not send|only file|just (?:a )?(?:draft|document)|as a document|file it instead)\b/i,
    apply: (edits) => {
      edits.documentOnly = true;
      return 'filed it as a document instead of sending it';
    },
  },
  {
    pattern:
      /\b(?:informal|less formal|friendl(?:y|ier)|warmer|warm|more personal|more casual|casual|less stiff|softer|kinder|nicer)\b/i,
    apply: retoned({ register: 'friendly' }, 'made it friendlier'),
  },
  {
    pattern:
      /\b(?:formal|formally|less casual|more professional|professional|more official|more polite|politer|more respectful)\b/i,
    apply: retoned({ register: 'formal' }, 'made it more formal'),
  },
  {
    pattern:
      /\b(?:shorter|shorten|short|briefer|brief|more concise|concise|less text|less wordy|too long|trim|tighter|crisper|to the point)\b/i,
    apply: retoned({ length: 'short' }, 'made it shorter'),
  },
  {
    pattern: /\b(?:longer|more detail(?:ed|s)?|elaborate|expand|too short|more context|in depth)\b/i,
    apply: retoned({ length: 'long' }, 'made it more detailed'),
  },
];

/** Where one request ends and the next begins: stops, and "and" or a comma in front of a word that opens a request. */
const REQUEST_OPENER =
  'add|also|mention|include|drop|remove|delete|cut|omit|skip|leave|take|without|don|do not|change|replace|use|set|make|sign|address|send|cc|copy|shorten|shorter|be more|more|less|say|ask|keep|too|expand';
const BETWEEN_REQUESTS = new RegExp(
  String.raw`(?<=[.!?])\s+|\s*[;\n]\s*|(?:,\s*(?:and\s+|but\s+)?|\s+(?:and|but)\s+)(?=(?:please\s+)?(?:${REQUEST_OPENER})\b)`,
  'i',
);
const POLITENESS =
  /^(?:please|can you|could you|kindly|ok(?:ay)?|good|great|nice|fine|thanks|but|and|also(?!\s+(?:send|address)\b)|then|now|it (?:should|must)|you should|let['’]s)[\s,:!-]+/i;

export function noEdits(): Edits {
  return {
    tone: {},
    subject: null,
    to: null,
    alsoTo: [],
    cc: [],
    signature: null,
    additions: [],
    drops: [],
    replacements: [],
    documentOnly: false,
    changes: [],
    notUnderstood: [],
  };
}

/** Adds what the rounds ask for to `edits`, which may hold wishes of the instruction already ("keep it short"). */
export function readFeedback(rounds: readonly { round: number; text: string }[], edits: Edits): void {
  for (const { round, text } of rounds) {
    for (const request of requestsIn(plain(text, 4_000))) {
      if (!applyRequest(edits, request, round)) edits.notUnderstood.push(request);
    }
  }
}

/** Applies one request in place; false when no rule reads it. */
export function applyRequest(edits: Edits, request: string, round: number): boolean {
  for (const { pattern, apply } of RULES) {
    const match = request.match(pattern);
    if (match === null) continue;
    edits.changes.push({ round, text: apply(edits, match.groups ?? {}) });
    return true;
  }
  return false;
}

function requestsIn(text: string): string[] {
  return text
    .split(BETWEEN_REQUESTS)
    .map((request) => {
      let bare = request.trim();
      while (POLITENESS.test(bare)) bare = bare.replace(POLITENESS, '');
      return bare.replace(/[.!\s]+$/, '');
    })
    .filter(
      (request) =>
        /[\p{L}\p{N}]/u.test(request) &&
        !/^(?:thanks?|thank you|good|great|ok(?:ay)?|nice|please)$/i.test(request),
    );
}

export function tonedBy(tone: Tone, edits: Edits): Tone {
  return { ...NEUTRAL, ...tone, ...edits.tone };
}
