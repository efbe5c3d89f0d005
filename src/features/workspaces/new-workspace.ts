import type { WorkspaceEntity } from './workspaces.entity.js';

/** A workspace as it begins: what is not named has the default of its setting. */
export function newWorkspace(
  given: Pick<WorkspaceEntity, 'workspaceId' | 'name' | 'tier' | 'createdAt'> &
    Partial<Pick<WorkspaceEntity, 'timezone' | 'currency'>>,
): WorkspaceEntity {
  const { workspaceId, name, tier, createdAt, timezone = 'UTC', currency = 'USD' } = given;
  return {
    workspaceId,
    name,
    tier,
    timezone,
    locale: 'en',
    currency,
    presence: 'present',
    quietHours: null,
    notifications: {},
    secondFactor: 'optional',
    senderName: null,
    senderSignature: null,
    senderReplyTo: null,
    modelBudget: null,
    retention: {},
    isFirst: false,
    createdAt,
  };
}
