import type { BootstrapView, ReportRecipientView, ReportSummary } from '@consigliere/sdk';
import { Link } from '@tanstack/react-router';
import { client } from '../session.js';
import { Act } from '../ui/act.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { nameOf, useConfig, useMembers } from './use-config.js';

const DELIVERY = {
  none: 'not mailed',
  waiting: 'its mail waits',
  sending: 'its mail is on its way',
  sent: 'mailed',
  failed: 'its mail failed',
};

/** Without a mail server what is sent is written to a file. */
function outcomeOf({ features }: BootstrapView, status: keyof typeof DELIVERY): string {
  return status === 'sent' && !features.mailServer ? 'written to a file on the server' : DELIVERY[status];
}

/** The reports that were made, and what became of their mails. */
export function History({ me, isAdmin }: { me: BootstrapView; isAdmin: boolean }) {
  return (
    <section aria-label="History">
      <h2>History</h2>
      <Listing<ReportSummary>
        name="daily reports"
        queryKey={['report', 'history']}
        list={(page) => client.reports.list(page)}
        empty="No report was made yet. The first one is made at the time above, about the day before."
      >
        {(report) => <Report key={report.reportId} me={me} report={report} isAdmin={isAdmin} />}
      </Listing>
    </section>
  );
}

function Report({ me, report, isAdmin }: { me: BootstrapView; report: ReportSummary; isAdmin: boolean }) {
  const { reportId, date, headline, generatedAt, trigger, delivery, recipients } = report;
  const isMailed = useConfig(isAdmin).data?.delivery.email;
  const members = useMembers(isAdmin);
  const hasFailed = recipients.some(({ status }) => status === 'failed');
  return (
    <li>
      <span className="title">{date}</span>
      <span>{headline}</span>
      <span className="facts">
        <span>
          made <Time at={Date.parse(generatedAt)} />
        </span>
        {trigger === 'on-demand' && <span>asked for</span>}
        <span className={delivery.status === 'failed' ? 'urgent' : ''}>{outcomeOf(me, delivery.status)}</span>
      </span>
      {isAdmin && recipients.length > 0 && (
        <ul aria-label={`Mails of the report of ${date}`}>
          {recipients.map((recipient) => (
            <Recipient
              me={me}
              key={recipient.memberId ?? recipient.address}
              recipient={recipient}
              name={recipient.memberId === null ? recipient.address! : nameOf(members, recipient.memberId)}
            />
          ))}
        </ul>
      )}
      <div className="row">
        <Link className="button" to="/overview" search={{ view: 'boss', date }}>
          Read
        </Link>
        {isMailed && (
          <Act
            verb="Send again"
            of={`the report of ${date}`}
            effect="The report as it was made is mailed again to all recipients."
            act={() => client.reports.resend(reportId)}
            stale={['report']}
            says={`Mailed again: the report of ${date}`}
          />
        )}
        {isMailed && hasFailed && (
          <Act
            verb="Send to those it did not reach"
            of={`the report of ${date}`}
            effect="Only recipients whose mail failed are mailed again."
            act={() => client.reports.resend(reportId, { to: 'failed' })}
            stale={['report']}
            says={`Mailed again to those it did not reach: the report of ${date}`}
          />
        )}
      </div>
    </li>
  );
}

/** What became of the mail to one recipient, and why. */
function Recipient({
  me,
  recipient: { status, at, error },
  name,
}: {
  me: BootstrapView;
  recipient: ReportRecipientView;
  name: string;
}) {
  return (
    <li>
      {name}: <span className={status === 'failed' ? 'urgent' : ''}>{outcomeOf(me, status)}</span>
      {at !== null && (
        <>
          {' '}
          <Time at={Date.parse(at)} />
        </>
      )}
      {error !== null && <span className="quiet"> {error}</span>}
    </li>
  );
}
