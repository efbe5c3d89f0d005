import { isBehind, type Listing, type Place, type SortKey } from '../../platform/database/listing.js';
import { COUNT_UP_TO, LARGEST_PAGE } from '../../platform/kernel/pages.dto.js';
import { CLOCKS_STOPPED_AT } from '../guardian/index.js';
import { URGENT_BEFORE_EXPIRY_MS } from './approval.js';

const OLDEST_FIRST: SortKey[] = [
  { column: 'requested_at', kind: 'time' },
  { column: 'approval_id', kind: 'text' },
];
const BY_AGE = 'requested_at, approval_id';

/** Urgent whatever the time (isUrgent): approvals_urgent is an index that has all of these. */
const ALWAYS_URGENT = `(priority = 'high' or risk = 'critical' or (risk = 'high' and kind <> 'action'))`;

/**
 * What waits for a person: urgent first, and among these and among the others the oldest first.
 *
 * What is urgent depends on the time, so no index has that order, and sorting all that waits took 250 ms of 100,000. But
 * each part of it has an index: what is always urgent by its age, what soon expires by its expiry (few, which are sorted),
 * the others by their age. So a page is the first rows of each. The others are not looked for while the urgent ones fill
 * the page.
 */
export function pendingListing(
  select: string,
  { where, values }: Pick<Listing, 'where' | 'values'>,
  { urgent, at }: { urgent: boolean | undefined; at: number },
): Listing {
  const soon = `$${values.length + 1}::timestamptz`;
  const pending = `${where} and status = 'pending' and ${soon} is not null`;
  const parts = partsOfPending(pending, soon);
  const allValues = [...values, soonAfter(at)];
  const isUrgent = [parts.always, parts.soon, parts.soonSinceKill];
  return {
    name: 'approvals pending',
    select,
    from: 'approvals',
    where: urgent === false ? parts.later : pending,
    values: allValues,
    order: [{ column: 'part', kind: 'number' }, ...OLDEST_FIRST],
    at,
    page: (place) => pageOf(parts, urgent, place),
    ...(urgent && {
      count: {
        text: `select count(*) as total from (
          ${isUrgent.map((part) => `select 1 from approvals where ${part}`).join(' union all ')}
          limit ${COUNT_UP_TO + 1}) counted`,
        values: allValues,
      },
    }),
  };
}

/** Before this moment an approval has to expire to be urgent now. */
export function soonAfter(at: number): Date {
  return new Date(at + URGENT_BEFORE_EXPIRY_MS);
}

interface Parts {
  always: string;
  soon: string;
  /** Asked for while the clocks have stood still, and soon expires once they go on. */
  soonSinceKill: string;
  later: string;
}

/**
 * The conditions of the parts of what waits; the first three are what is urgent. For statements whose $1 is the workspace.
 * @param soon where {@link soonAfter} stands
 */
export function partsOfPending(pending: string, soon: string): Parts {
  const notAlways = `${pending} and ${ALWAYS_URGENT} is not true`;
  const span = `interval '${URGENT_BEFORE_EXPIRY_MS} milliseconds'`;
  const soonest = `coalesce(${CLOCKS_STOPPED_AT} + ${span}, ${soon})`;
  const sinceKill = `(requested_at >= ${CLOCKS_STOPPED_AT} and expires_at < requested_at + ${span})`;
  return {
    always: `${pending} and ${ALWAYS_URGENT}`,
    soon: `${notAlways} and expires_at < ${soonest}`,
    soonSinceKill: `${notAlways} and expires_at >= ${soonest} and ${sinceKill}`,
    later: `${notAlways} and expires_at >= ${soonest} and ${sinceKill} is not true`,
  };
}

/** What stands first in the list of what waits: `part` (0: urgent), `requested_at` and `approval_id`, which are its order. */
export function firstPending(pending: string, soon: string, rows: number): string {
  const all = { amongUrgent: 'true', amongLater: 'true', limit: String(rows), offset: '0' };
  return keysOf(partsOfPending(pending, soon), all);
}

/** The keys are found first: whole rows are read for the page alone. */
function pageOf(parts: Parts, urgent: boolean | undefined, { after, limit, offset }: Place): string {
  const [part, ...keys] = after ?? [];
  const behind = () =>
    `${part!.place} is not null and ${isBehind(
      OLDEST_FIRST,
      keys.map(({ place }) => place),
    )}`;
  const isPastUrgent = part !== undefined && part.key !== 0;
  const amongUrgent = urgent === false || isPastUrgent ? 'false' : part ? behind() : 'true';
  const amongLater = urgent ? 'false' : isPastUrgent ? behind() : 'true';
  return `
    with keys as (${keysOf(parts, { amongUrgent, amongLater, limit, offset })})
    select a.*, keys.part from (select * from keys limit ${LARGEST_PAGE + 1}) keys join approvals a on a.approval_id = keys.approval_id`;
}

function keysOf(
  parts: Parts,
  {
    amongUrgent,
    amongLater,
    limit,
    offset,
  }: { amongUrgent: string; amongLater: string; limit: string; offset: string },
): string {
  const rows = `limit ${limit}::bigint + ${offset}::bigint`;
  return `
    with soon as materialized (
      select requested_at, approval_id from approvals where ${parts.soon} and ${amongUrgent}
      union all
      select requested_at, approval_id from approvals where ${parts.soonSinceKill} and ${amongUrgent}
    ), urgent as materialized (
      select ${BY_AGE} from (
        (select ${BY_AGE} from approvals where ${parts.always} and ${amongUrgent} order by ${BY_AGE} ${rows})
        union all
        (select ${BY_AGE} from soon order by ${BY_AGE} ${rows})
      ) u order by ${BY_AGE} ${rows}
    ), later as (
      select ${BY_AGE} from approvals where ${parts.later} and ${amongLater} order by ${BY_AGE}
      ${rows} - (select count(*) from urgent)
    )
    select part, ${BY_AGE} from (
      select 0 as part, ${BY_AGE} from urgent union all select 1, ${BY_AGE} from later
    ) k order by part, ${BY_AGE} limit ${limit}::bigint offset ${offset}::bigint`;
}
