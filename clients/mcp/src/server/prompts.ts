import { type Prompt, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

const TEXTS: Record<string, { title: string; description: string; text: string }> = {
  'morning-brief': {
    title: 'Morning brief',
    description: 'What happened, what waits for you, and what to decide first.',
    text: `Give me my morning brief. Read service/report with yesterday's date, service/approvals/list, service/guardian/status and the newest page of service/feed.
Then tell me, in at most 15 lines: what was done and what it cost, what failed or was halted, what waits for me with the urgent ones and their deadlines first, and the one decision to make now. Give numbers as the report has them. Decide nothing.`,
  },
  'review-approvals': {
    title: 'Review approvals',
    description: 'Go through what waits for a decision, one draft after the other.',
    text: `Go through what waits for my decision, one after the other: service/approvals/list, then service/approvals/get for each.
Show me each draft whole, with recipients and amounts, why it asks, its risk and whether it can be undone, and any claim in it that you cannot find in the context. Then ask me: approve, reject with feedback, edit, or skip.
Approve only after I have said so for that very draft, with its contentHash as confirm; if it changed meanwhile, show it again.`,
  },
};

export const PROMPTS: Prompt[] = Object.entries(TEXTS).map(([name, { title, description }]) => ({
  name,
  title,
  description,
}));

/** @throws ProtocolError for a prompt that there is none of */
export function promptMessages(name: string): string {
  if (!Object.hasOwn(TEXTS, name))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${name}.`);
  return TEXTS[name]!.text;
}
