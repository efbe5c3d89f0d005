import { directionOf, isBehind, type Place, type SortKey } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import { APPROVAL_STATUSES, ApprovalEntity } from './approval.entity.js';

/**
 * Since when a kill stops the clocks of all pending approvals; null: they run. For statements whose $1 is the workspace. One
 * moment for all: a change of each of ten thousand kept a kill from its COMMIT for over a second (docs/decisions/0058).
 */
export const CLOCKS_STOPPED_AT = '(select clocks_stopped_at from guardians where workspace_id = $1)';

/** {@link ApprovalEntity.frozenMs} in the select list of a statement on `approvals`, whose $1 is the workspace. */
export const FROZEN_MS = `case when status = 'pending' and ${CLOCKS_STOPPED_AT} is not null then greatest(0,
  round(extract(epoch from expires_at - greatest(requested_at, ${CLOCKS_STOPPED_AT})) * 1000))::bigint end as frozen_ms`;

/** The columns of a statement on `approvals`, whose $1 is the workspace. */
export function columnsOfApproval(...without: readonly (keyof ApprovalEntity & string)[]): string {
  return `${columnsOf(ApprovalEntity, { without })}, ${FROZEN_MS}`;
}

/** A page of every status: each has an index in this order, and all together have none. They are merged, and not sorted. */
export function pageOfEveryStatus(condition: string, order: readonly SortKey[]) {
  return ({ after, limit, offset }: Place): string => {
    const places = after?.map(({ place }) => place);
    const behind = places ? ` and ${isBehind(order, places)}` : '';
    const keys = [...new Set(['approval_id', ...order.map(({ column }) => column)])].join(', ');
    const inOrder = `order by ${directionOf(order)}`;
    const each = APPROVAL_STATUSES.map(
      (
        status,
      ) => `(select ${keys} from approvals where ${condition} and status = '${status}'${behind} ${inOrder}
        limit ${limit}::bigint + ${offset}::bigint)`,
    );
    return `select a.* from (
        select approval_id from (${each.join(' union all ')}) k ${inOrder} limit ${limit} offset ${offset}
      ) keys join approvals a using (approval_id)`;
  };
}
