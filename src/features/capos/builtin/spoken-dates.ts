import { findDates, monthName, spoken, type Calendar, type FoundDate } from './calendar.js';

/** Words after which a date stands without "on": "by Friday", "is Friday", "Thursday and Friday". */
const LEADS_IN =
  /(?:^|\s)(?:on|by|until|till|before|after|from|since|for|of|to|through|than|between|and|or|is|was|are|be|starting|starts|ending|ends|as of|around|latest)$/i;
/** A date that is the subject of a clause: "tomorrow works". */
const IS_SUBJECT = /^\s+(?:is|was|will|would|works?|suits?|can|could|has|looks?|fits?)\b/i;
/** "the Friday call": the day only names the meeting. */
const NOT_A_DAY = /(?:^|\s)(?:the|our|my|your|a)$/i;

/** The same text with every relative date turned into a calendar date, in the grammar of its sentence. */
export function withSpokenDates(text: string, calendar: Calendar): string {
  let result = '';
  let at = 0;
  for (const found of findDates(text, calendar)) {
    const end = found.index + found.text.length;
    const before = result + text.slice(at, found.index);
    result =
      before.trimEnd() + spacing(before) + rewritten(found, before.trimEnd(), text.slice(end), calendar);
    at = end;
  }
  return result + text.slice(at);
}

function spacing(before: string): string {
  return /\s$/.test(before) ? ' ' : '';
}

function rewritten(found: FoundDate, before: string, after: string, calendar: Calendar): string {
  const day = spoken(found.date, calendar);
  const weekdayName = day.slice(0, day.indexOf(','));
  switch (found.form) {
    case 'literal':
      return found.text;
    case 'numeric':
      return /^\p{L}/u.test(found.text) ? found.text : day;
    case 'period':
      // "(Friday, 4 December)" behind a date that says so already would be noise.
      return after.trimStart().startsWith('(') ? found.text : `${found.text} (${explained(found, calendar)})`;
    case 'part-of-day': {
      const part = found.text.toLowerCase() === 'tonight' ? 'evening' : (found.text.split(' ').at(-1) ?? '');
      const lead = LEADS_IN.test(before) || NOT_A_DAY.test(before) || IS_SUBJECT.test(after) ? '' : 'on ';
      return `${lead}${weekdayName} ${part} (${day.slice(day.indexOf(',') + 2)})`;
    }
    case 'day':
      if (/^['’]s\b/.test(after)) return weekdayName;
      if (NOT_A_DAY.test(before)) return found.text;
      if (LEADS_IN.test(before) || IS_SUBJECT.test(after)) return day;
      return /[.!?]$/.test(before) ? `On ${day}` : `on ${day}`;
  }
}

function explained(found: FoundDate, calendar: Calendar): string {
  if (/month$/i.test(found.text) && !/end of/i.test(found.text)) {
    return `${monthName(found.date)} ${found.date.year}`;
  }
  if (/quarter$/i.test(found.text) && !/end of/i.test(found.text)) {
    return `Q${Math.ceil(found.date.month / 3)} ${found.date.year}`;
  }
  if (/year$/i.test(found.text) && !/end of/i.test(found.text)) return String(found.date.year);
  const start = /week$/i.test(found.text) && !/end of|^in |^within /i.test(found.text) ? 'from ' : '';
  return `${start}${spoken(found.date, calendar)}`;
}
