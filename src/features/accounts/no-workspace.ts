import type { Scope } from '../../platform/database/unit-of-work.js';

/** What concerns an account alone: it belongs to no workspace, and has a row-level view of none. */
export const NO_WORKSPACE: Scope = { workspaceId: '', teamIds: [] };

/** The queue of work on accounts. */
export const ACCOUNTS = 'accounts';
