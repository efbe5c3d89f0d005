import { Link } from '@tanstack/react-router';
import { mayAct, useMe } from '../me.js';
import { Config } from './config.js';
import { CustomSections } from './custom-sections.js';
import { History } from './history.js';

/** When the Daily Report is made, what it says, to whom it goes, and what became of those before. */
export function ReportPage() {
  const me = useMe();
  if (!me) return <p className="empty">Loading.</p>;
  const isAdmin = mayAct(me, 'admin');
  const isPart = !isAdmin && me.teams.length > 0;
  return (
    <div className="page">
      <h1>Daily Report</h1>
      <p>
        <Link to="/overview" search={{ view: 'boss' }}>
          Read what {isPart ? 'your teams did' : 'was done'} on the last day.
        </Link>
      </p>
      {isAdmin ? (
        <>
          <Config me={me} />
          <CustomSections me={me} />
        </>
      ) : (
        <p className="quiet">Admins set when it is made, what it says and to whom it goes.</p>
      )}
      {isPart ? (
        <p>
          Once an admin has named you as a recipient, you are mailed your teams’ part each morning. The whole
          report is for owners and admins.
        </p>
      ) : (
        <History me={me} isAdmin={isAdmin} />
      )}
    </div>
  );
}
