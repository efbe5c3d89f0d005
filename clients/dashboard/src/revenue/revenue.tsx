import type { RecordRevenueBody } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { mayAct, mayActSomewhere, useMe } from '../me.js';
import { client } from '../session.js';
import { Csv } from '../ui/csv.js';
import { Failure } from '../ui/failure.js';
import { Loaded, Rows } from '../ui/list.js';
import { textsOf } from '../ui/texts-of.js';
import { Time } from '../ui/time.js';

const SHOWN = 5;

/** What was earned last, and the place to record more. */
export function Revenue({ teamId }: { teamId: string | undefined }) {
  const me = useMe();
  const events = useQuery({
    queryKey: ['revenue'],
    queryFn: () => client.revenueEvents.list({ limit: SHOWN }),
  });
  return (
    <section aria-label="Revenue">
      <h2>Revenue recorded last</h2>
      <Loaded query={events}>
        {({ items }) => (
          <Rows items={items} empty="No revenue has been recorded yet.">
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
          </Rows>
        )}
      </Loaded>
      <Csv name="revenue" total={events.data?.total} list={(page) => client.revenueEvents.list(page)} />
      {mayActSomewhere(me, 'operator') && <RecordRevenue teamId={teamId} />}
    </section>
  );
}

function RecordRevenue({ teamId }: { teamId: string | undefined }) {
  const queries = useQueryClient();
  const me = useMe()!;
  const teams = me.teams.filter((team) => mayAct(me, 'operator', team.teamId));
  const record = useMutation({
    mutationFn: (body: RecordRevenueBody) => client.revenueEvents.record(body),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['revenue'] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const { amount, currency, source, description, paidAt, team } = textsOf(form);
    record.mutate(
      {
        amount: Number(amount),
        currency: currency!.toUpperCase(),
        source: source!,
        ...(description && { description }),
        ...(paidAt && { occurredAt: new Date(paidAt).getTime() }),
        ...(team && { teamId: team }),
      },
      { onSuccess: () => form.reset() },
    );
  };
  return (
    <details>
      <summary>Record revenue</summary>
      <form onSubmit={submit}>
        <label>
          Amount <span className="quiet">negative for money given back</span>
          <input name="amount" type="number" step="0.0001" required />
        </label>
        <label>
          Currency
          <input
            name="currency"
            required
            pattern="[A-Za-z]{3}"
            title="Three letters, such as EUR"
            defaultValue={me.workspace.currency}
          />
        </label>
        <label>
          From whom
          <input name="source" required maxLength={200} />
        </label>
        <label>
          For what <span className="quiet">can be left out</span>
          <input name="description" maxLength={2_000} />
        </label>
        <label>
          When it was paid <span className="quiet">left out: now</span>
          <input name="paidAt" type="datetime-local" />
        </label>
        {teams.length > 0 && (
          <label>
            Earned by
            <select name="team" defaultValue={teamId}>
              {mayAct(me, 'operator') && <option value="">No team</option>}
              {teams.map((team) => (
                <option key={team.teamId} value={team.teamId}>
                  {team.name}
                </option>
              ))}
            </select>
          </label>
        )}
        {record.error && <Failure error={record.error} />}
        {record.data && (
          <p role="status">
            Recorded: {moneyOf(record.data.amount, record.data.currency)} from {record.data.source}.
          </p>
        )}
        <button type="submit" className="primary" disabled={record.isPending}>
          Record
        </button>
      </form>
    </details>
  );
}

function moneyOf(amount: number, currency: string): string {
  return amount.toLocaleString(undefined, { style: 'currency', currency });
}
