import { counted } from '../../platform/kernel/readable-numbers.js';
import type { Block } from '../mail/index.js';
import type { DigestEntry } from './notice-source.js';

/** So many stand in a digest, the urgent ones first; of the others it says how many there are. */
export const MOST_LISTED = 20;

/** The mail about many things at once. */
export function digestOf({
  entries,
  total,
  failed,
  before,
  inboxUrl,
}: {
  entries: readonly DigestEntry[];
  /** How many the member is told of for the first time, those that are not listed too. */
  total: number;
  /** How many of these are directives that failed, and no decisions. */
  failed: number;
  /** What the member was told of before and nobody has decided since; without `isAll` there may be more. */
  before: { total: number; listed: number; isAll: boolean };
  /** Where all of them are listed. */
  inboxUrl: string;
}): { subject: string; blocks: Block[] } {
  const waiting = total - failed + before.total;
  const decisions = [
    before.isAll ? `${waiting}` : `${waiting} or more`,
    waiting === 1 ? 'decision waits for you' : 'decisions wait for you',
    ...(before.total > 0 ? [`(${total - failed} new)`] : []),
  ].join(' ');
  const news = [
    ...(waiting > 0 ? [decisions] : []),
    ...(failed > 0 ? [`${counted(failed, 'directive')} failed`] : []),
  ].join(', ');
  const isAll = before.isAll && entries.length >= waiting + failed;
  const blocks: Block[] = [{ kind: 'heading', text: news }];
  if (!isAll) {
    blocks.push(
      { kind: 'text', text: `This mail lists ${entries.length} of them.` },
      { kind: 'reference', text: 'All of them stand in the inbox:', url: inboxUrl },
    );
  }
  if (before.listed > 0) {
    blocks.push({
      kind: 'text',
      text: `Of those listed, ${before.listed} you were told of before, and nobody has decided ${before.listed === 1 ? 'it' : 'them'} since.`,
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
