import { TIER_LIMITS } from '../../platform/rate-limit/limits.js';
import type { WorkspaceView } from './workspace.dto.js';
import type { WorkspaceEntity } from './workspaces.entity.js';

/** What there is to know of a workspace beside its settings. */
export type WorkspaceFacts = Pick<WorkspaceEntity, 'workspaceId' | 'name' | 'tier' | 'isFirst' | 'createdAt'>;

export function workspaceView(facts: WorkspaceFacts): WorkspaceView {
  const limits = TIER_LIMITS[facts.tier];
  return { ...facts, requestsPerMinute: limits?.minute ?? null, requestsPerDay: limits?.day ?? null };
}
