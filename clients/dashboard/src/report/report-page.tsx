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
  return (
    <div className="page">
      <h1>Daily Report</h1>
      <p>
        <Link to="/overview">Read the last one.</Link>
      </p>
      {isAdmin ? (
        <>
          <Config me={me} />
          <CustomSections me={me} />
        </>
      ) : (
        <p className="quiet">Admins set when it is made, what it says and to whom it goes.</p>
      )}
      <History me={me} isAdmin={isAdmin} />
    </div>
  );
}
