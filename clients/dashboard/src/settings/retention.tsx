import type { RetentionView } from '@consigliere/sdk';
import { client } from '../session.js';
import { Act } from '../ui/act.js';
import { Field } from '../ui/form.js';

type Subject = keyof RetentionView;

/** What each subject is, how long it is kept unless somebody says otherwise, and the fewest days (docs/retention.md). */
const SUBJECTS: Record<Subject, { what: string; standard: number; fewest: number }> = {
  deliveries: { what: 'Deliveries to webhooks that have ended', standard: 30, fewest: 1 },
  signals: { what: 'Signals that were acknowledged or withdrawn', standard: 365, fewest: 30 },
  withdrawnDocuments: { what: 'Documents that were withdrawn', standard: 365, fewest: 1 },
  partnerUpdates: { what: 'Updates of the partner', standard: 400, fewest: 30 },
};
const MOST = 3_650;

/** What is kept for how long. */
export function Retention({ days, isAdmin }: { days: RetentionView; isAdmin: boolean }) {
  return (
    <section aria-label="What is kept">
      <h2>What is kept, and for how long</h2>
      <p>
        Receipts, directives, approvals, questions, filed documents and revenue stay as long as the workspace.
        Conversations with the consigliere end 365 days after their last message.
      </p>
      <ul className="rows">
        {(Object.keys(SUBJECTS) as Subject[]).map((subject) => (
          <Kept key={subject} subject={subject} days={days[subject]} isAdmin={isAdmin} />
        ))}
      </ul>
    </section>
  );
}

function Kept({ subject, days, isAdmin }: { subject: Subject; days: number; isAdmin: boolean }) {
  const { what, standard, fewest } = SUBJECTS[subject];
  return (
    <li>
      <span className="title">{what}</span>
      <span className="facts">
        <span>{days === 1 ? '1 day' : `${days} days`}</span>
      </span>
      {isAdmin && (
        <Act
          verb="Change the days"
          of={`of ${what.toLowerCase()}`}
          id={subject}
          effect={`They are kept for ${days} days now. With fewer, what is older is deleted within minutes, and nothing brings it back. Receipts stay.`}
          isDanger
          act={(texts) =>
            client.settings.update({ retention: { [subject]: texts['days'] ? Number(texts['days']) : null } })
          }
          stale={['settings']}
        >
          <Field label="Days" hint={`if empty: ${standard}`}>
            <input name="days" type="number" min={fewest} max={MOST} step={1} defaultValue={days} />
          </Field>
        </Act>
      )}
    </li>
  );
}
