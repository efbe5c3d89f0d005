import { ValidationFailed } from '../kernel/errors.js';
import { COUNT_UP_TO, LARGEST_PAGE, type Page, type PageQuery } from '../kernel/pages.dto.js';
import type { Statement } from './batch.js';
import type { Db } from './db.js';
import type { Scope } from './unit-of-work.js';

/** A column that a list is ordered by. */
export interface SortKey {
  /** As it stands in the statement, with its alias if the table has one. */
  column: string;
  kind: 'time' | 'text' | 'number';
  descending?: boolean;
}

/** A list: its rows, and their order. A page of it costs the same however far behind it lies. */
export interface Listing {
  /** Tells the cursors of lists apart. */
  name: string;
  select: string;
  /** The table, with an alias if the statement uses one. */
  from: string;
  /** What is joined to the rows of a page, one row to each; it narrows nothing. */
  joins?: string;
  where: string;
  values: readonly unknown[];
  /** Together they name one row. */
  order: readonly SortKey[];
  /** Of a list whose order depends on the time: as of when, so that every page is one of the same list. */
  at?: number;
  /** Where no index has the order of the list: the statement that finds the rows of a page, made of several. */
  page?: (place: Place) => string;
  /** Where counting the rows one by one is not the way: the statement that answers their number as `total`. */
  count?: Statement;
}

/** Which rows of a list a page has: so many, behind others. */
export interface Place {
  /** The keys of the row that it goes on behind, each with its place among the values of the statement. */
  after: { key: string | number; place: string }[] | undefined;
  /** The places of how many rows to answer, and how many to pass over. */
  limit: string;
  offset: string;
}

/** The conditions that hold for the columns of `equal` that are given; what is undefined narrows nothing. */
export function where(
  equal: Readonly<Record<string, unknown>>,
  ...more: readonly string[]
): Pick<Listing, 'where' | 'values'> {
  // Only what is asked for stands in the statement: a condition that may be empty would keep the planner from the
  // index that serves it. The combinations are few, so each is prepared once.
  const given = Object.entries(equal).filter(([, value]) => value !== undefined);
  const conditions = given.map(([column], index) => `${column} = $${index + 1}`);
  return { where: [...conditions, ...more].join(' and '), values: given.map(([, value]) => value) };
}

/**
 * The number of rows by their tally (docs/decisions/0007), which costs the same however many rows there are. The keys of
 * the tally are a status and what is counted beside it, such as the capo; what is undefined narrows nothing.
 */
export function countByTally(
  kind: string,
  { workspaceId, teamId }: { workspaceId: string; teamId?: string | undefined },
  { statuses, beside }: { statuses?: readonly string[] | undefined; beside?: string | undefined },
): Statement {
  return {
    text: `select coalesce(sum(n), 0)::bigint as total from app.tally_of($1, $2, $3)
      where ($4::text[] is null or split_part(key, ' ', 1) = any($4)) and ($5::text is null or split_part(key, ' ', 2) = $5)`,
    values: [workspaceId, kind, teamId ?? null, statuses ?? null, beside ?? null],
  };
}

/** The team that a list is narrowed to, if any: who sees one team alone reads by its index, and not past the rows of all others. */
export function teamIn({ teamIds }: Scope, teamId: string | undefined): string | undefined {
  return teamId ?? (teamIds.length === 1 && teamIds !== 'all' ? teamIds[0] : undefined);
}

/** By the time of creation, and by id among rows of one time. */
export function newestFirst(id: string, createdAt = 'created_at'): SortKey[] {
  return [
    { column: createdAt, kind: 'time', descending: true },
    { column: id, kind: 'text', descending: true },
  ];
}

type Key = string | number;
type Paging = Pick<PageQuery, 'limit' | 'offset' | 'cursor'>;
type Row<T> = T & { pageKey: Key[] };

/** The last time that a Date can hold, in Unix milliseconds. */
const LAST_TIME = 8.64e15;

/**
 * Times to the microsecond, as the database keeps them: two rows of one millisecond would else be one place.
 */
const KEY = {
  time: (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint`,
  text: (column: string) => column,
  number: (column: string) => column,
};

const FROM_KEY = {
  time: (place: string) => `('epoch'::timestamptz + ${place}::bigint * interval '1 microsecond')`,
  text: (place: string) => `${place}::text`,
  number: (place: string) => `${place}::bigint`,
};

/** A page of the list with the number of its rows, in one round trip. */
export async function readPage<T>(db: Db, scope: Scope, listing: Listing, paging: Paging): Promise<Page<T>> {
  const [rows, counted] = await db.readAll(scope, pageStatements(listing, paging));
  return pageOf<T>(listing, paging, rows!, counted!);
}

/**
 * The statements of {@link readPage}, for a caller that sends more along.
 * @throws ValidationFailed for a cursor that is none of this list
 */
export function pageStatements(listing: Listing, { limit, offset, cursor }: Paging): Statement[] {
  const { select, from, joins = '', order } = listing;
  if (cursor !== undefined && offset > 0) throw refused('offset', 'must not be given with a cursor');
  const values = [...listing.values];
  const after =
    cursor === undefined
      ? undefined
      : keysOf(listing, cursor).map((key, index) => ({
          key,
          place: FROM_KEY[order[index]!.kind](`$${values.push(key)}`),
        }));
  const place = { after, limit: `$${values.push(limit + 1)}`, offset: `$${values.push(offset)}` };
  const keys = order.map(({ column, kind }) => KEY[kind](column)).join(', ');
  return [
    {
      // One row more than asked for tells whether the list goes on. The columns are computed for the rows of the page
      // alone: beside the table, PostgreSQL would compute them for the rows that are passed over too. The limit that is written
      // out tells the planner how few rows there are to join with; of one that is a value it expects a tenth of the table.
      text: `select ${select}, jsonb_build_array(${keys}) as page_key from (
          select * from (${(listing.page ?? pageByIndex(listing))(place)}) page limit ${LARGEST_PAGE + 1}
        ) ${from.split(' ').at(-1)} ${joins} order by ${directionOf(order)}`,
      values,
    },
    listing.count ?? {
      text: `select count(*) as total from (select 1 from ${from} where ${listing.where} limit ${COUNT_UP_TO + 1}) counted`,
      values: listing.values,
    },
  ];
}

function pageByIndex({ from, where: condition, order }: Listing) {
  return ({ after, limit, offset }: Place): string => {
    const behind = after
      ? ` and ${isBehind(
          order,
          after.map(({ place }) => place),
        )}`
      : '';
    return `select * from ${from} where ${condition}${behind} order by ${directionOf(order)}
      limit ${limit} offset ${offset}`;
  };
}

/**
 * A page of the rows that any of these conditions holds for: those of each have an index in this order, and all together have none.
 * They are merged, and not sorted.
 */
export function pageOfEach(
  table: string,
  id: string,
  parts: readonly string[],
  condition: string,
  order: readonly SortKey[],
) {
  return ({ after, limit, offset }: Place): string => {
    const places = after?.map(({ place }) => place);
    const behind = places ? ` and ${isBehind(order, places)}` : '';
    const keys = [...new Set([id, ...order.map(({ column }) => column)])].join(', ');
    const inOrder = `order by ${directionOf(order)}`;
    const each = parts.map(
      (part) => `(select ${keys} from ${table} where ${condition} and ${part}${behind} ${inOrder}
        limit ${limit}::bigint + ${offset}::bigint)`,
    );
    return `select a.* from (
        select ${id} from (${each.join(' union all ')}) k ${inOrder} limit ${limit} offset ${offset}
      ) keys join ${table} a using (${id})`;
  };
}

/** The parts of a list of which each has this value, for {@link pageOfEach}. */
export function partsBy(column: string, values: readonly string[]): string[] {
  return values.map((value) => `${column} = '${value}'`);
}

function directionOf(order: readonly SortKey[]): string {
  return order.map(({ column, descending }) => `${column}${descending ? ' desc' : ''}`).join(', ');
}

export function pageOf<T>(
  { name, at }: Listing,
  { limit, offset }: Paging,
  rows: unknown[],
  counted: unknown[],
): Page<T> {
  const { total } = (counted as { total: number }[])[0]!;
  const page = (rows as Row<T>[]).slice(0, limit);
  const last = rows.length > limit ? page.at(-1)!.pageKey : undefined;
  return {
    items: page.map(({ pageKey: _key, ...item }) => item as T),
    total: Math.min(total, COUNT_UP_TO),
    ...(total > COUNT_UP_TO && { totalIsMinimum: true }),
    limit,
    offset,
    nextCursor: last ? Buffer.from(JSON.stringify([name, at ?? null, ...last])).toString('base64url') : null,
  };
}

/** Rows behind the place `after`. The first key stands alone too, so that an index leads to it. */
export function isBehind(order: readonly SortKey[], after: readonly string[]): string {
  const [{ column, descending }, ...rest] = order as [SortKey, ...SortKey[]];
  const [place, ...places] = after as [string, ...string[]];
  const sign = descending ? '<' : '>';
  if (rest.length === 0) return `${column} ${sign} ${place}`;
  return `${column} ${sign}= ${place} and (${column} ${sign} ${place} or (${isBehind(rest, places)}))`;
}

/** As of when the list is that the cursor goes on in; undefined for the first page, and for what is no cursor. */
export function listedAt(cursor: string | undefined): number | undefined {
  const at = cursor === undefined ? undefined : parsed(cursor)[1];
  return Number.isSafeInteger(at) && Math.abs(at as number) <= LAST_TIME ? (at as number) : undefined;
}

/** What a cursor says comes from outside: it is compared with rows that row-level security shows, and with no others. */
function keysOf({ name, order }: Listing, cursor: string): Key[] {
  const [list, at, ...keys] = parsed(cursor);
  const isFit =
    list === name &&
    (at === null || Number.isSafeInteger(at)) &&
    keys.length === order.length &&
    order.every(({ kind }, index) =>
      kind === 'text'
        ? typeof keys[index] === 'string' && !keys[index].includes('\0') && keys[index].isWellFormed()
        : Number.isSafeInteger(keys[index]),
    );
  if (!isFit) throw refused('cursor', 'must be the nextCursor of a page of this list');
  return keys as Key[];
}

function parsed(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function refused(path: 'cursor' | 'offset', fault: string): Error {
  const rule = path === 'cursor' ? 'cursor' : 'offsetWithCursor';
  return new ValidationFailed({ details: [{ path, rule, message: `${path} ${fault}` }] });
}
