import type { Briefing, DraftPacket, SignalBrief, StandingOrderBrief } from '../briefing.js';
import { actionTypesOf, type ActionTypeName } from '../action-types.js';
import { CAPOS, type Capo } from '../capo.js';
import { calendarOf, type Calendar } from './calendar.js';
import type { Edits } from './edits.js';
import { keywords, sharedKeywords } from './text.js';

/** A briefing at work: who acts, on which day, with which changes asked for. */
export interface Assignment {
  briefing: Briefing;
  capo: Capo;
  calendar: Calendar;
  edits: Edits;
}

/** The outcome of a step: its packets, their readable form, and what the operator has to know about them. */
export interface Move {
  packets: Omit<DraftPacket, 'needsInput'>[];
  /** Markdown for the body of the draft. */
  section: string;
  summary: string;
  /** What is missing, unclear or left out. */
  notes: string[];
}

export function assignmentOf(briefing: Briefing, edits: Edits): Assignment {
  const { timezone, locale } = briefing.workspace;
  const capo = CAPOS[briefing.directive.capo];
  return { briefing, capo, edits, calendar: calendarOf(briefing.now, timezone, locale) };
}

export function canDo({ capo }: Assignment, type: ActionTypeName): boolean {
  return actionTypesOf(capo.engine).includes(type);
}

/** How many entries a list of a document may have, given the length that was asked for. */
export function listLength({ edits }: Assignment, normal: number): number {
  return edits.tone.length === 'short'
    ? Math.min(3, normal)
    : edits.tone.length === 'long'
      ? normal * 2
      : normal;
}

const SEVERITY = { critical: 0, warning: 1, info: 2 } as const;

/** The signals that touch this text, most severe and newest first. */
export function relatedSignals({ briefing }: Assignment, text: string): SignalBrief[] {
  const words = keywords(text);
  return bySeverity(
    briefing.signals.filter(({ title, body }) => sharedKeywords(words, keywords(`${title} ${body}`)) > 0),
  );
}

export function bySeverity(signals: readonly SignalBrief[]): SignalBrief[] {
  return signals.toSorted((a, b) => SEVERITY[a.severity] - SEVERITY[b.severity] || b.createdAt - a.createdAt);
}

export function ordersFor({ briefing, capo }: Assignment): StandingOrderBrief[] {
  return briefing.standingOrders.filter(({ capos }) => capos.length === 0 || capos.includes(capo.role));
}

const HOUR = 3_600_000;

/** Why this move counts for more or less than its kind usually does; each factor has a name that can be checked. */
export function multipliersOf({ briefing }: Assignment, text: string): Record<string, number> {
  const { priority, deadline } = briefing.directive;
  const due = deadline === null ? NaN : Date.parse(deadline) - briefing.now;
  const words = keywords(text);
  const pressing = briefing.signals.some(
    ({ severity, title }) => severity !== 'info' && sharedKeywords(words, keywords(title)) > 0,
  );
  return {
    ...(priority === 'medium' ? {} : { priority: priority === 'high' ? 1.5 : 0.75 }),
    ...(due <= 24 * HOUR ? { deadline: 1.25 } : {}),
    ...(pressing ? { signals: 1.2 } : {}),
  };
}
