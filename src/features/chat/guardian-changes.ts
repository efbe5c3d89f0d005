import { cutText } from '../../platform/kernel/text.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import { CALENDAR } from './calendar-statements.js';
import type { GuardianChange, GuardianFacts, Period } from './look-up.js';

/** The guardian as it is, and what receipts say of how it came to be so: those that the member may read, as everywhere. */

export const GUARDIAN_CHANGES = [
  'guardian.killed',
  'guardian.recovering',
  'guardian.reverted',
  'guardian.mode_changed',
] as const;

/** Of each action. */
export const MOST_CHANGES = 10;
const REASON = 300;

/** $3: the actions. */
export const GUARDIAN = /* sql */ `
with ${CALENDAR},
changes as (
  select r.seq, r.at, r.body from unnest($3::text[]) a (action) cross join lateral (
    select seq, at, body from receipts where workspace_id = $1 and action = a.action order by seq desc limit ${MOST_CHANGES}) r)
select mode, app.ms(killed_at) as killed_at, killed_by->>'name' as killed_by, reason,
  coalesce((select n::int from app.tally_of($1, 'packets') where key = 'awaiting_approval'), 0) as pending,
  (select coalesce(json_agg(json_build_object('body', c.body, 'periods',
      (select coalesce(json_agg(p.period), '[]') from calendar p where c.at >= p.begins and (p.ends is null or c.at < p.ends))
    ) order by c.seq desc), '[]') from changes c) as changes
from guardians where workspace_id = $1`;

export interface StoredGuardian extends Omit<GuardianFacts, 'changes'> {
  /** With the receipts as they were hashed. */
  changes: { body: string; periods: Period[] }[];
}

export function guardianFrom({ changes, ...guardian }: StoredGuardian): GuardianFacts {
  return { ...guardian, changes: changes.map(({ body, periods }) => changeFrom(body, periods)) };
}

function changeFrom(body: string, periods: Period[]): GuardianChange {
  const { receiptId, action, at, actor, details } = JSON.parse(body) as ReceiptContent;
  const { reason, mode } = details;
  return {
    receiptId,
    action: action as GuardianChange['action'],
    at,
    by: actor.type === 'system' ? null : actor.name,
    reason: typeof reason === 'string' ? cutText(reason, REASON) : null,
    mode: action === 'guardian.mode_changed' ? String(mode) : null,
    periods,
  };
}
