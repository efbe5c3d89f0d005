import type { Briefing, DraftContent } from './briefing.js';

/** What the draft of a model may have invented or left open. */
export function checkDraft(draft: DraftContent, _briefing: Briefing): DraftContent {
  return draft;
}
