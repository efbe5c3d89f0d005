import { createHash } from 'node:crypto';
import { decodeTime, encodeTime } from 'ulid';
import { type Id, type IdPrefix, isId } from './ids.js';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_PART = 16;
const TIME_PART = 10;

/**
 * An id that follows from what it is of: the same for every maker and every time, so that a read needs to write nothing, and
 * of two that make one record at once the second is refused. It sorts among other ids as one that was made at `at`.
 *
 * @param at Unix milliseconds; times before 1970 count as its beginning
 * @param of all that tells it from other ids of the prefix; knowing that is knowing the id
 */
export function derivedId<P extends IdPrefix>(prefix: P, at: number, of: string): Id<P> {
  const digest = createHash('sha256').update(of).digest().subarray(0, RANDOM_PART);
  const random = [...digest].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${prefix}_${encodeTime(Math.max(0, at), TIME_PART).toLowerCase()}${random}` as Id<P>;
}

/** The time in an id, Unix milliseconds; undefined for what is no id with this prefix. */
export function timeOfId(prefix: IdPrefix, id: string): number | undefined {
  return isId(prefix, id) ? decodeTime(id.slice(prefix.length + 1).toUpperCase()) : undefined;
}
