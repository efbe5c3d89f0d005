/** A number with at most so many digits is the same when it has been read and is written again. */
const EXACT_DIGITS = 15;

/**
 * JSON as an answer is read, or undefined where it is none. A number that would be rounded, such as an id beyond 2^53, is
 * kept as its text: rounded it is the id of something else.
 */
export function exactJson(text: string): unknown {
  try {
    return JSON.parse(text, exactly as (key: string, value: unknown) => unknown) as unknown;
  } catch {
    return undefined;
  }
}

/** `source` is what stands in the text, of a value that is neither list nor object. */
function exactly(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value !== 'number' || source === undefined || isExact(value, source) ? value : source;
}

function isExact(value: number, source: string): boolean {
  if (Number.isInteger(value)) return Number.isSafeInteger(value) && isWhole(source);
  const digits = source.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '');
  return Number.isFinite(value) && digits.length <= EXACT_DIGITS;
}

/** `1.0` and `1e3` are whole; so long a fraction that it is rounded to a whole number is not. */
function isWhole(source: string): boolean {
  return /^-?\d+$/.test(source) || source.length <= EXACT_DIGITS;
}
