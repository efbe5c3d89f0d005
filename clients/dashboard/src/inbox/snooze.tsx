import type { ApprovalSummary } from '@consigliere/sdk';
import { useEffect, useState } from 'react';
import { useMe } from '../me.js';
import { Time } from '../ui/time.js';

interface Snoozed {
  until: number;
  /** What was snoozed: another content comes back at once. */
  contentHash: string | null;
}

const HOUR_MS = 3_600_000;
/** From then on an approval is urgent. */
const URGENT_BEFORE_EXPIRY_MS = 2 * HOUR_MS;
const MORNING = 9;

/** What a person has snoozed, in this browser alone. It ends by itself, and before the approval becomes urgent. */
export function useSnoozes() {
  const key = `snoozed:${useMe()?.operator.memberId ?? ''}`;
  const [, setChanged] = useState(0);
  const snoozes = JSON.parse(localStorage.getItem(key) ?? '{}') as Record<string, Snoozed>;
  const now = Date.now();
  const left = Object.entries(snoozes).filter(([, { until }]) => until > now);
  const next = Math.min(...left.map(([, { until }]) => until));
  useEffect(() => {
    const show = () => setChanged((n) => n + 1);
    // A timer that is set for longer than 24 days would end at once.
    const timer = Number.isFinite(next) ? setTimeout(show, Math.min(next - Date.now(), 24 * HOUR_MS)) : 0;
    addEventListener('storage', show);
    return () => {
      clearTimeout(timer);
      removeEventListener('storage', show);
    };
  }, [next]);
  const keep = (snoozed: readonly [string, Snoozed][]) => {
    localStorage.setItem(key, JSON.stringify(Object.fromEntries(snoozed)));
    setChanged((n) => n + 1);
  };
  const others = (approvalId: string) => left.filter(([id]) => id !== approvalId);
  return {
    /** When it comes back; undefined where it is not snoozed. */
    until: ({ approvalId, urgent, contentHash }: ApprovalSummary): number | undefined => {
      const [, snoozed] = left.find(([id]) => id === approvalId) ?? [];
      return snoozed && !urgent && snoozed.contentHash === contentHash ? snoozed.until : undefined;
    },
    snooze: ({ approvalId, contentHash, expiresAt }: ApprovalSummary, at: number) => {
      const until = Math.min(at, expiresAt - URGENT_BEFORE_EXPIRY_MS);
      keep([...others(approvalId), [approvalId, { until, contentHash }]]);
    },
    wake: ({ approvalId }: ApprovalSummary) => keep(others(approvalId)),
  };
}

/** Snoozes an approval that is not urgent. */
export function Snooze({
  approval,
  onSnoozed,
}: {
  approval: ApprovalSummary;
  onSnoozed: () => Promise<unknown>;
}) {
  const { until, snooze, wake } = useSnoozes();
  const back = until(approval);
  if (approval.urgent) return null;
  if (back !== undefined) {
    return (
      <p className="row">
        <span>
          Snoozed until <Time at={back} />
        </span>
        <button type="button" onClick={() => wake(approval)}>
          Bring back now
        </button>
      </p>
    );
  }
  return (
    <details className="snooze">
      <summary aria-keyshortcuts="s">Snooze</summary>
      <div className="row">
        {(
          [
            ['For an hour', Date.now() + HOUR_MS],
            ['Until tomorrow', morningIn(1)],
            ['Until next week', morningIn(7)],
          ] as const
        ).map(([words, at]) => (
          <button
            key={words}
            type="button"
            onClick={() => {
              snooze(approval, at);
              void onSnoozed();
            }}
          >
            {words}
          </button>
        ))}
      </div>
    </details>
  );
}

/** Nine o'clock so many days from now, by the clock of the reader. */
function morningIn(days: number): number {
  const day = new Date();
  day.setDate(day.getDate() + days);
  return day.setHours(MORNING, 0, 0, 0);
}
