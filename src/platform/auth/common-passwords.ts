import { isLongCommonPassword } from './long-common-passwords.js';

/** Digits and signs around a word make it no harder to guess, up to so many of them. */
const AFFIXES = 8;

let known: Promise<ReadonlySet<string>> | undefined;

/**
 * Whether a password, in lower case, is among the 49,000 most used of the lists that were stolen elsewhere, or the
 * 3,000 most used of those that are long enough to be chosen; or one of them twice, or with a few digits and signs before or
 * behind it. The lists come with the program: no password is asked about elsewhere.
 */
export async function isCommonPassword(folded: string): Promise<boolean> {
  const common = await (known ??= read());
  const isCommon = (text: string) => common.has(text) || isLongCommonPassword(text);
  if (isCommon(folded)) return true;
  const word = folded.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  if (word !== '' && folded.length - word.length <= AFFIXES && isCommon(word)) return true;
  const half = folded.slice(0, folded.length / 2);
  return half.length * 2 === folded.length && half + half === folded && isCommon(half);
}

/** Read when a password is chosen for the first time: most processes never need it. */
async function read(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}
