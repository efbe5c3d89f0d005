import { columnsOf } from '../../platform/database/table.js';
import { ApprovalEntity } from './approval.entity.js';

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
