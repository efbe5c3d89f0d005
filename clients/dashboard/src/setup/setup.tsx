import { Link, type LinkProps } from '@tanstack/react-router';
import { mayAct, useMe } from '../me.js';

/** Those of the role admin are shown to no other. */
const OF_ADMINS = '/service';

const PAGES: readonly [to: LinkProps['to'], name: string, what: string][] = [
  ['/people', 'People', 'Invite colleagues, put them into teams, end sessions.'],
  [
    '/orders',
    'Standing orders',
    'What goes by itself and how much of it, what is always asked, what never leaves.',
  ],
  [
    '/agents',
    'Agents and tools',
    'Who asks and for what; pause an agent; accept or refuse the tools that agents propose.',
  ],
  ['/schedules', 'Schedules', 'Work that is handed in each day, week or month.'],
  ['/report', 'Daily Report', 'When it is made, what it says, to whom it goes.'],
  ['/connections', 'Connections', 'Webhooks that tell other programs what happened, and each delivery.'],
  [OF_ADMINS, 'The service', 'Its address, mail and model, with a test of each.'],
  ['/settings/api', 'API', 'Tokens for programs and for agents that ask before they act.'],
];

/** Everything that an organisation sets up, with one line each. */
export function SetUp() {
  const isAdmin = mayAct(useMe(), 'admin');
  const pages = PAGES.filter(([to]) => isAdmin || to !== OF_ADMINS);
  return (
    <div className="page">
      <h1>Set-up</h1>
      <ul className="rows">
        {pages.map(([to, name, what]) => (
          <li key={to}>
            <Link to={to}>
              <span className="title">{name}</span>
              <span className="facts">{what}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
