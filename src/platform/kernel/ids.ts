import { randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';

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
