import { serveCalls } from '../../platform/processes/serve-calls.js';
import { deepWithoutUnseen } from '../../platform/kernel/unseen.js';
import type { Briefing } from './briefing.js';
import { draftFrom } from './builtin/draft.js';
import { checkDraftBounds } from './draft-bounds.js';

/** What runs in the processes of {@link BuiltinRunner}. It reads what a person sees, so nothing else is in its draft. */
serveCalls((briefing: Briefing) => checkDraftBounds(draftFrom(deepWithoutUnseen(briefing))));
