import { randomFillSync, createHash } from 'node:crypto';
import { monotonicFactory, decodeTime, encodeTime } from 'ulid';

/** The prefixes of CONTRACT section 1, and of what the wire never shows; they tell a reader, and the type checker, what an id names. */
export type IdPrefix =
  | 'wks'
  | 'usr'
  | 'mem'
  | 'team'
  | 'inv'
  | 'tok'
  | 'dir'
  | 'pkt'
  | 'apr'
  | 'so'
  | 'sim'
  | 'sug'
  | 'doc'
  | 'sig'
  | 'rcp'
  | 'chk'
  | 'rvt'
  | 'pfl'
  | 'evl'
  | 'rev'
  | 'dec'
  | 'evt'
  | 'whk'
  | 'dlv'
  | 'con'
  | 'pck'
  | 'lic'
  | 'req'
  | 'esc'
  | 'exp'
  | 'ses'
  | 'msg'
  | 'rst'
  | 'lck'
  | 'ntf'
  | 'rpt'
  | 'sec'
  | 'lnk'
  | 'cnv'
  | 'trn'
  | 'cmt'
  | 'act'
  | 'qst'
  | 'sch';

export type Id<P extends IdPrefix> = `${P}_${string}`;

const pool = Buffer.alloc(4096);
let position = pool.length;

/** The ulid package asks for one random number per character; a pool makes that one system call per 4 KiB. */
function random(): number {
  if (position === pool.length) {
    randomFillSync(pool);
    position = 0;
  }
  return pool[position++]! / 256;
}

const ulid = monotonicFactory(random);

/** A new id, `<prefix>_<26 lower-case ULID characters>`; ids made by one process sort by the time they were made. */
export function newId<P extends IdPrefix>(prefix: P): Id<P> {
  return `${prefix}_${ulid().toLowerCase()}` as Id<P>;
}

const ULID = '[0-7][0-9a-hjkmnp-tv-z]{25}';

/** True when `text` is an id with this prefix; says nothing about whether the row exists. */
export function isId<P extends IdPrefix>(prefix: P, text: string): text is Id<P> {
  return new RegExp(`^${prefix}_${ULID}$`).test(text);
}

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
  const drawn = [...digest].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${prefix}_${encodeTime(Math.max(0, at), TIME_PART).toLowerCase()}${drawn}` as Id<P>;
}

/** The time in an id, Unix milliseconds; undefined for what is no id with this prefix. */
export function timeOfId(prefix: IdPrefix, id: string): number | undefined {
  return isId(prefix, id) ? decodeTime(id.slice(prefix.length + 1).toUpperCase()) : undefined;
}
