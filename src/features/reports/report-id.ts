import { derivedId, timeOfId, type Id } from '../../platform/kernel/ids.js';
import type { Audience } from '../workspaces/index.js';

const DAY_MS = 86_400_000;

/** The id of a family report: the same for the same day of the same workspace and audience. */
export function familyReportIdOf(workspaceId: string, date: string, audience: Audience): Id<'rpt'> {
  return derivedId('rpt', Date.parse(date), `family report ${workspaceId} ${date} ${keyOf(audience)}`);
}

/** The day that an id of a family report names; undefined for what is none. */
export function dateOfReport(reportId: string): string | undefined {
  const at = timeOfId('rpt', reportId);
  if (at === undefined || at % DAY_MS !== 0 || at > LAST_DAY) return undefined;
  return new Date(at).toISOString().slice(0, 10);
}

/** 31 December 9999, the last day with a year of four digits. */
const LAST_DAY = 253_402_214_400_000;

function keyOf(audience: Audience): string {
  if (audience === 'all') return 'all';
  return audience.length === 0 ? 'none' : audience.join(' ');
}
