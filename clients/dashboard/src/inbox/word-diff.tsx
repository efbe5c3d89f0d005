type Part = { text: string; change: 'same' | 'gone' | 'new' };

/** Beyond so many comparisons a text is shown as replaced. */
const MOST_COMPARISONS = 1_000_000;

/** Two texts as one: what is gone and what is new, by word. */
export function WordDiff({ before, after }: { before: string; after: string }) {
  return (
    <span className="diff">
      {diff(before.split(/(?<=\s)/), after.split(/(?<=\s)/)).map(({ text, change }, at) =>
        change === 'same' ? (
          text
        ) : change === 'gone' ? (
          <del key={at}>{text}</del>
        ) : (
          <ins key={at}>{text}</ins>
        ),
      )}
    </span>
  );
}

/** The words that both have stay, as many as can (longest common subsequence). */
function diff(before: readonly string[], after: readonly string[]): Part[] {
  const part = (words: readonly string[], change: Part['change']): Part[] =>
    words.length > 0 ? [{ text: words.join(''), change }] : [];
  let from = 0;
  while (from < before.length && from < after.length && before[from] === after[from]) from++;
  let end = 0;
  while (
    end < before.length - from &&
    end < after.length - from &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++;
  const old = before.slice(from, before.length - end);
  const now = after.slice(from, after.length - end);
  const middle =
    old.length * now.length > MOST_COMPARISONS
      ? [...part(old, 'gone'), ...part(now, 'new')]
      : longestCommon(old, now);
  return [
    ...part(before.slice(0, from), 'same'),
    ...middle,
    ...part(before.slice(before.length - end), 'same'),
  ];
}

function longestCommon(old: readonly string[], now: readonly string[]): Part[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i]![j] =
        old[i] === now[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  const parts: Part[] = [];
  const add = (text: string, change: Part['change']) => {
    const last = parts.at(-1);
    if (last?.change === change) last.text += text;
    else parts.push({ text, change });
  };
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      add(old[i++]!, 'same');
      j++;
    } else if (j >= now.length || (i < old.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!)) {
      add(old[i++]!, 'gone');
    } else add(now[j++]!, 'new');
  }
  return parts;
}
