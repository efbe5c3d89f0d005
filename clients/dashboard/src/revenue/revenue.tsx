import { mayAct, mayActSomewhere, useMe } from '../me.js';
import { client } from '../session.js';
import { Field, Form } from '../ui/form.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { tell } from '../ui/told.js';

/** What was earned last, and the place to record more. */
export function Revenue({ teamId }: { teamId: string | undefined }) {
  const me = useMe();
  return (
    <section aria-label="Revenue">
      <h2>Latest revenue</h2>
      <Listing
        queryKey={['revenue']}
        name="revenue"
        first={5}
        list={(page) => client.revenueEvents.list(page)}
        empty="No revenue has been recorded yet."
      >
        {({ eventId, amount, currency, source, description, occurredAt }) => (
          <li key={eventId}>
            <span className="title">
              {moneyOf(amount, currency)} from {source}
            </span>
            <span className="facts">
              <Time at={occurredAt} />
              {description && <span>{description}</span>}
            </span>
          </li>
        )}
      </Listing>
      {mayActSomewhere(me, 'operator') && <RecordRevenue teamId={teamId} />}
    </section>
  );
}

function RecordRevenue({ teamId }: { teamId: string | undefined }) {
  const me = useMe()!;
  const teams = me.teams.filter((team) => mayAct(me, 'operator', team.teamId));
  return (
    <details>
      <summary>Record revenue</summary>
      <Form
        about="revenue"
        verb="Record"
        act={({ amount, currency, source, description, paidAt, team }) =>
          client.revenueEvents.record({
            amount: Number(amount),
            currency: currency!.toUpperCase(),
            source: source!,
            ...(description && { description }),
            ...(paidAt && { occurredAt: new Date(paidAt).getTime() }),
            ...(team && { teamId: team }),
          })
        }
        stale={['revenue']}
        onDone={({ amount, currency, source }) =>
          tell(`Recorded: ${moneyOf(amount, currency)} from ${source}.`)
        }
      >
        <Field label="Amount" hint="negative for a refund">
          <input name="amount" type="number" step="0.0001" required />
        </Field>
        <Field label="Currency">
          <input
            name="currency"
            required
            pattern="[A-Za-z]{3}"
            title="Three letters, such as EUR"
            defaultValue={me.workspace.currency}
          />
        </Field>
        <Field label="From whom">
          <input name="source" required maxLength={200} />
        </Field>
        <Field label="For what" hint="optional">
          <input name="description" maxLength={2_000} />
        </Field>
        <Field label="When it was paid" hint="if empty: now">
          <input name="paidAt" type="datetime-local" />
        </Field>
        {teams.length > 0 && (
          <Field label="Earned by">
            <select name="team" defaultValue={teamId}>
              {mayAct(me, 'operator') && <option value="">No team</option>}
              {teams.map((team) => (
                <option key={team.teamId} value={team.teamId}>
                  {team.name}
                </option>
              ))}
            </select>
          </Field>
        )}
      </Form>
    </details>
  );
}

function moneyOf(amount: number, currency: string): string {
  return amount.toLocaleString(undefined, { style: 'currency', currency });
}
