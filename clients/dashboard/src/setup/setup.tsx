import { Link, type LinkProps } from '@tanstack/react-router';
import { mayAct, type Role, useMe } from '../me.js';

/** Some are only for those who have a role. */
const PAGES: readonly [to: LinkProps['to'], name: string, what: string, role?: Role][] = [
  ['/people', 'People', 'Invite colleagues, put them into teams, end sessions.'],
  [
    '/orders',
    'Standing orders',
    'What is sent without asking and how much of it, what always needs approval, what is never sent.',
  ],
  [
    '/agents',
    'Agents and tools',
    'Who asks and for what; pause an agent; accept or refuse the tools that agents propose.',
  ],
  ['/schedules', 'Schedules', 'Work that is handed in each day, week or month.'],
  [
    '/documents',
    'Documents',
    'Documents that the capos (the built-in assistants) filed, to read and to download.',
  ],
  ['/report', 'Daily Report', 'When it is made, what it says, to whom it goes.'],
  ['/connections', 'Connections', 'Webhooks that send what happened to other programs, and each delivery.'],
  ['/packs', 'Skill packs', 'What publishers have made: install, upgrade, remove.'],
  [
    '/settings',
    'Settings',
    'Name, sender, time zone, currency, quiet hours, second factor, and how long data is kept.',
  ],
  ['/tier', 'Tier and licence', 'What the tier allows, how much of it is left, and the licence.'],
  ['/workspaces', 'Workspaces', 'Export or delete this workspace; make another.', 'owner'],
  ['/service', 'The service', 'Its address, mail and model, with a test of each.', 'admin'],
  ['/settings/api', 'API', 'Tokens for programs and for agents that ask before they act.'],
];

/** Everything that an organisation sets up, with one line each. */
export function SetUp() {
  const me = useMe();
  const pages = PAGES.filter(([, , , role]) => !role || mayAct(me, role));
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
