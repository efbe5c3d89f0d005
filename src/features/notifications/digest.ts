import type { Block } from './blocks.js';
import type { DigestEntry } from './notice-source.js';

/** So many stand in a digest, the urgent ones first; of the others it says how many there are. */
export const MOST_LISTED = 20;

/** The mail about many things at once. */
export function digestOf({
  entries,
  total,
  before,
  listUrl,
}: {
  entries: readonly DigestEntry[];
  /** How many it is about, those that are not listed too. */
  total: number;
  /** How many of the listed ones the member was told of before. */
  before: number;
  /** Where it says how to list all of them. */
  listUrl: string;
}): { subject: string; blocks: Block[] } {
  const news = `${total} ${total === 1 ? 'decision waits' : 'decisions wait'} for you`;
  const isAll = entries.length >= total;
  const blocks: Block[] = isAll
    ? [{ kind: 'text', text: `${news}.` }]
    : [
        { kind: 'text', text: `${news}. This mail lists ${entries.length} of them.` },
        { kind: 'reference', text: 'How to list all of them:', url: listUrl },
      ];
  if (before > 0) {
    blocks.push({
      kind: 'text',
      text: `Of those listed, ${before} you were told of before, and nobody has decided ${before === 1 ? 'it' : 'them'} since.`,
    });
  }
  for (const { title, blocks: own } of entries) blocks.push({ kind: 'heading', text: title }, ...own);
  if (blocks.some(({ kind }) => kind === 'link')) {
    blocks.push({
      kind: 'text',
      text: 'Each link to a draft is for you alone and works once. Opening it shows the complete draft and decides nothing.',
    });
  }
  return { subject: news, blocks };
}
