import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMe } from '../me.js';
import { Auditor } from './auditor.js';
import { Boss } from './boss.js';
import { Capo } from './capo.js';
import { remember, rememberedView, VIEWS, type View } from './views.js';

const NAMES: Record<View, string> = { boss: 'Boss', capo: 'Capo', auditor: 'Auditor' };

/** What goes on, as three people look at it: one who owns the results, one who runs a team, and one who checks both. */
export function Overview() {
  const { view = rememberedView(), team, date, receipt } = useSearch({ from: '/overview' });
  const navigate = useNavigate();
  const me = useMe();
  return (
    <div className="page wide">
      <h1>Overview</h1>
      <div className="row">
        <nav aria-label="Views">
          {VIEWS.map((one) => (
            <Link
              key={one}
              to="/overview"
              search={{ view: one, ...(team && { team }) }}
              aria-current={one === view ? 'page' : undefined}
              onClick={() => remember(one)}
            >
              {NAMES[one]}
            </Link>
          ))}
        </nav>
        {me && me.teams.length > 0 && (
          <select
            aria-label="Team"
            value={team ?? ''}
            onChange={({ target: { value } }) =>
              void navigate({ to: '/overview', search: { view, ...(value && { team: value }) } })
            }
          >
            <option value="">All teams</option>
            {me.teams.map(({ teamId, name }) => (
              <option key={teamId} value={teamId}>
                {name}
              </option>
            ))}
          </select>
        )}
      </div>
      {view === 'boss' && <Boss teamId={team} date={date} />}
      {view === 'capo' && <Capo teamId={team} />}
      {view === 'auditor' && <Auditor teamId={team} receiptId={receipt} />}
    </div>
  );
}
