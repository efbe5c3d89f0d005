import type { Block } from './blocks.js';
import type { DigestEntry } from './notice-source.js';

/** So many stand in a digest, the urgent ones first; of the others it says how many there are. */
export const MOST_LISTED = 20;

/** The mail about many things at once. */
export function digestOf({
  entries,
  total,
  before,
}: {
  entries: readonly DigestEntry[];
  /** How many it is about, those that are not listed too. */
  total: number;
  /** How many of the listed ones the member was told of before. */
  before: number;
}): { subject: string; blocks: Block[] } {
  const news = `${total} ${total === 1 ? 'decision waits' : 'decisions wait'} for you`;
  const isAll = entries.length >= total;
  const blocks: Block[] = [
    {
      kind: 'text',
      text: isAll
        ? `${news}.`
        : `${news}. The mail lists ${entries.length} of them; GET /api/pro/approvals lists all.`,
    },
  ];
  if (before > 0) {
    blocks.push({
      kind: 'text',
      text: `Of those listed, ${before} you were told of before, and nobody has decided ${before === 1 ? 'it' : 'them'} since.`,
    });
  }
  for (const { title, blocks: own } of entries) blocks.push({ kind: 'heading', text: title }, ...own);
  blocks.push({
    kind: 'text',
    text: 'Each link is for you alone and works once. Opening it shows the complete draft and decides nothing.',
  });
  return { subject: news, blocks };
}
