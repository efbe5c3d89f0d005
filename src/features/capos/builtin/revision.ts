import { cutText } from '../../../platform/kernel/text.js';
import type { DraftContent, FeedbackRound } from '../briefing.js';
import type { DraftBuilder } from './draft-builder.js';
import { oneLine } from './text.js';

const EDIT = "Please edit this yourself: the built-in runner doesn't rewrite what was drafted.";
/** What a person edits most likely, by its name among the parameters. */
const TEXTS = ['body', 'directive', 'description', 'title'] as const;

/** The work packets of before, with people's edits in them: whoever wishes for a change makes it. */
export function revise(draft: DraftBuilder, { text, previous }: FeedbackRound): DraftContent {
  for (const packet of previous.packets) {
    const { to } = packet.params;
    const needed = packet.needsInput ?? [];
    const isToNobody =
      Array.isArray(to) && to.length === 0 && !needed.some(({ path }) => path === 'params.to');
    const path = `params.${TEXTS.find((name) => typeof packet.params[name] === 'string') ?? 'amount'}`;
    draft.packets.push({
      ...structuredClone(packet),
      target: '',
      multipliers: {},
      needsInput: [
        ...needed.filter((each) => each.path !== path),
        ...(isToNobody ? [{ path: 'params.to', message: 'Who is to receive it?' }] : []),
        { path, message: cutText(`${EDIT} The wish: “${oneLine(text)}”`, 500) },
      ],
    });
  }
  draft.remarks.push("Nothing was changed: the built-in runner doesn't rewrite. Please edit the draft.");
  return draft.finish();
}
