import { serveCalls } from '../../platform/processes/serve-calls.js';
import type { Briefing } from './briefing.js';
import { draftFrom } from './builtin/draft.js';
import { checkDraftBounds } from './draft-bounds.js';

/** What runs in the processes of {@link BuiltinRunner}. */
serveCalls((briefing: Briefing) => {
  const draft = draftFrom(briefing);
  checkDraftBounds(draft);
  return draft;
});
