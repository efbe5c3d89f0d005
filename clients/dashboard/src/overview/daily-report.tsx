import type { BootstrapView, DailyReportView, ReportedActView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Loaded, More, Rows } from '../ui/list.js';
import { ReceiptLink } from '../ui/receipt-link.js';
import { Time } from '../ui/time.js';
import { Figure } from './metrics.js';

/** The report of a day, and the days before it. */
export function DailyReport({ date }: { date: string | undefined }) {
  const me = useMe();
  const search = useSearch({ from: '/overview' });
  const navigate = useNavigate();
  const report = useQuery({
    queryKey: ['report', date],
    queryFn: () => client.reports.getDaily(date ? { date } : {}),
  });
  const history = useQuery({
    queryKey: ['reports'],
    queryFn: () => client.reports.list({ limit: 100 }),
    enabled: seesWhole(me),
  });
  const days = [...new Set(history.data?.items.map((one) => one.date))];
  return (
    <section aria-label="Report of the day">
      <h2>Report of the day</h2>
      {days.length > 0 && (
        <select
          aria-label="Day of the report"
          value={date ?? ''}
          onChange={({ target: { value } }) => {
            const { date: _before, ...others } = search;
            void navigate({ to: '/overview', search: { ...others, ...(value && { date: value }) } });
          }}
        >
          <option value="">The last full day</option>
          {days.map((day) => (
            <option key={day}>{day}</option>
          ))}
        </select>
      )}
      {history.data?.nextCursor && <Link to="/report">Earlier reports</Link>}
      <Loaded query={report}>{(data) => <Sections report={data} />}</Loaded>
    </section>
  );
}

function Sections({ report }: { report: DailyReportView }) {
  const { date, timezone, partial, headline, sections, customSections } = report;
  const {
    revenue,
    agentActivity: activity,
    approvalQueue,
    costLedger,
    guardianState,
    tomorrowQueue,
  } = sections;
  const me = useMe();
  const money = (amount: number, currency: string) =>
    amount.toLocaleString(undefined, { style: 'currency', currency });
  return (
    <>
      <p>
        <strong>{headline}</strong>
      </p>
      <p className="quiet">
        {date}, {timezone}. {partial && partialWords(me)}
      </p>
      <dl className="figures">
        {revenue && <Figure name="Revenue" value={money(revenue.total, revenue.currency)} />}
        {activity && <Figure name="Directives carried out" value={activity.directivesExecuted} />}
        {activity && <Figure name="Released" value={activity.movesApproved} />}
        {activity && <Figure name="Denied" value={activity.movesBlocked} />}
        {approvalQueue && <Figure name="Waiting for you" value={approvalQueue.pending} />}
        {costLedger && <Figure name="Models" value={money(costLedger.total, costLedger.currency)} />}
        {guardianState && <Figure name="Guardian" value={guardianState.mode} />}
      </dl>
      <Acts title="Sent and done" acts={activity?.sent} total={activity?.movesSent} />
      <Acts title="Not done" acts={activity?.notDone} total={activity?.notDoneTotal} />
      {tomorrowQueue && (
        <>
          <h3>Next</h3>
          <Rows items={tomorrowQueue.items} empty="Nothing is under way.">
            {({ directiveId, title, deadline }) => (
              <li key={directiveId}>
                <Link to="/directives/$directiveId" params={{ directiveId }}>
                  <span className="title">{title}</span>
                  {deadline && (
                    <span className="facts">
                      due <Time at={Date.parse(deadline)} />
                    </span>
                  )}
                </Link>
              </li>
            )}
          </Rows>
          <More shown={tomorrowQueue.items.length} total={tomorrowQueue.total} />
        </>
      )}
      {customSections.map(({ sectionId, title, body, error }) => (
        <section key={sectionId}>
          <h3>{title}</h3>
          <pre className="output">{body ?? error ?? 'It is being written.'}</pre>
        </section>
      ))}
    </>
  );
}

/** Reports of all teams are for owner and admins; others read what their teams did. */
function seesWhole(me: BootstrapView | undefined): boolean {
  return mayAct(me, 'admin') || me?.teams.length === 0;
}

/** Why a report is none that stays as it is. */
function partialWords(me: BootstrapView | undefined): string {
  return seesWhole(me)
    ? 'It is not complete: its numbers may still change.'
    : 'It counts what your teams did, as of now.';
}

function Acts({
  title,
  acts = [],
  total,
}: {
  title: string;
  acts: readonly ReportedActView[] | undefined;
  total: number | undefined;
}) {
  if (acts.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className="rows">
        {acts.map(({ receiptId, at, summary }) => (
          <li key={receiptId}>
            {summary}{' '}
            <span className="facts">
              <Time at={Date.parse(at)} /> <ReceiptLink id={receiptId} />
            </span>
          </li>
        ))}
      </ul>
      <More shown={acts.length} total={total} />
    </>
  );
}
