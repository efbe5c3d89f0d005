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

export function intentOf(intent: Intent, facts?: unknown): ChatIntent {
  const ids = facts === undefined ? [] : idsIn(JSON.stringify(facts));
  return { intent, ids: ids.slice(0, MAX_IDS) };
}
