import type { TopicName } from './topics.js';

export type Intent = TopicName | 'hand_in_asked' | 'hand_in' | 'refused' | 'help' | 'not_answered';

/** What a message was taken for, with the records that the reply was made from. */
export interface ChatIntent {
  intent: Intent;
  /** At most 50. */
  ids: string[];
}

/** Of a record that a member can look up. */
const ID = String.raw`(?:dir|pkt|act|apr|so|sig|esc|rcp|doc|dec|rev|evl|chk|rvt)_[0-7][0-9a-hjkmnp-tv-z]{25}`;

/** The ids in a text, each once. */
export function idsIn(text: string): string[] {
  return [...new Set(text.match(new RegExp(String.raw`\b${ID}\b`, 'g')))];
}

/** The ids of the records that rows are about, not those within a text: quotation marks of a text are escaped. */
export function recordIdsIn(rows: object): string[] {
  const named = JSON.stringify(rows).match(new RegExp(`Id":"${ID}"`, 'g'));
  return idsIn((named ?? []).join(' '));
}

export function intentOf(intent: Intent, ids: readonly string[] = []): ChatIntent {
  return { intent, ids: ids.slice(0, 50) };
}
