import type { Tier } from '../../platform/auth/caller.js';
import { IsVisibleName } from '../../platform/kernel/visible-name.js';
import { TierLimits } from '../../platform/rate-limit/tier-limits.dto.js';

const MAX_NAME = 60;

/** Body of `PATCH /api/admin/workspace`. */
export class WorkspaceBody {
  /** One line of 1 to 60 characters: the name that members and mail recipients see. @example 'Northwind' */
  @IsVisibleName(MAX_NAME)
  name!: string;
}

/** The workspace that is open. */
export class WorkspaceView extends TierLimits {
  /** The id of the workspace. @example 'wks_01kerpxzm02h8rz4dtvnsqab5g' */
  workspaceId!: string;
  /** The workspace's name. @example 'Northwind' */
  name!: string;
  /** free, pro or enterprise; it comes from the licence, and is changed by no request. @example 'pro' */
  tier!: Tier;
  /**
   * Whether it is the first workspace of the service, whose owners make the others, and which cannot be deleted.
   * @example false
   */
  isFirst!: boolean;
  /** When it was made, Unix milliseconds. @example 1768209000000 */
  createdAt!: number;
}

/** The workspace that is open, and what is left of the requests that its tier allows. */
export class WorkspaceUsageView extends WorkspaceView {
  /** Requests left in this minute, after this one; null is unlimited. @example 112 */
  leftThisMinute!: number | null;
  /** Requests left on this day of UTC, after this one; null is unlimited. @example 9204 */
  leftToday!: number | null;
}
