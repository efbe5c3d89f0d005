/** What a message was taken for. */
const INTENTS = [
  'waiting',
  'decision',
  'directives',
  'signals',
  'revenue',
  'cost',
  'standing_orders',
  'guardian',
  'buyers',
  'hand_in',
  'refused',
  'help',
  'not_answered',
] as const;
export type Intent = (typeof INTENTS)[number];

/** An intent, with the records that the reply was made from. */
export interface ChatIntent {
  intent: Intent;
  /** At most 50. */
  ids: string[];
}

const MAX_IDS = 50;
/** Ids of records that a member can look up. */
const ID = /\b(?:dir|pkt|apr|so|sig|esc|rcp|doc|dec|rev|evl|chk|rvt)_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g;

/** The ids in a text, each once. */
export function idsIn(text: string): string[] {
  return [...new Set(text.match(ID))];
}

/** The ids of the records that facts are about, each once: what stands within a text was written by whoever wrote the text. */
export function recordIdsIn(facts: unknown): string[] {
  const found = new Set<string>();
  const look = (value: unknown) => {
    if (typeof value === 'string') {
      const [id] = idsIn(value);
      if (id === value) found.add(id);
    } else if (typeof value === 'object' && value !== null) {
      for (const each of Object.values(value)) look(each);
    }
  };
  look(facts);
  return [...found];
}

export function intentOf(intent: Intent, facts?: unknown): ChatIntent {
  return { intent, ids: recordIdsIn(facts).slice(0, MAX_IDS) };
}
