import { keywords, sentencesOf } from './text.js';

/**
 * The sentences that carry a text: those whose words the text itself repeats most, in their original order. It quotes
 * and never rephrases, so a summary can't say what the text doesn't.
 */
export function essentialSentences(text: string, count: number): string[] {
  const sentences = sentencesOf(text).slice(0, 400);
  const words = sentences.map((each) => keywords(each));
  const frequency = new Map<string, number>();
  for (const set of words) for (const word of set) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const weights = words.map((set, at) => {
    const sum = [...set].reduce((total, word) => total + (frequency.get(word) ?? 0), 0);
    // The root keeps long sentences from winning by length; the first one usually says what it is about.
    return (sum / Math.sqrt(set.size + 3)) * (at === 0 ? 1.3 : 1);
  });
  return weights
    .map((weight, at) => ({ weight, at }))
    .toSorted((a, b) => b.weight - a.weight || a.at - b.at)
    .slice(0, count)
    .toSorted((a, b) => a.at - b.at)
    .map(({ at }) => sentences[at] ?? '');
}
