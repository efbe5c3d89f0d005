import { useState } from 'react';
import { mayAct, mayActSomewhere, useMe } from '../me.js';
import { Invite } from './invite.js';
import { Invites } from './invites.js';
import { Mails } from './mails.js';
import { Members } from './members.js';
import { Sessions } from './sessions.js';
import { Teams } from './teams.js';

/** Who is in the workspace, in which team, with which role; who is invited; who is signed in. */
export function PeoplePage() {
  const me = useMe();
  /** The team that was just made: the next one who is invited is meant for it. */
  const [madeTeamId, setMadeTeamId] = useState<string>();
  if (!me) return <p className="empty">Loading.</p>;
  const managesAll = mayAct(me, 'admin');
  const managesSome = mayActSomewhere(me, 'admin');
  return (
    <div className="page">
      <h1>People</h1>
      {managesSome ? (
        <Invite key={madeTeamId} me={me} madeTeamId={madeTeamId} />
      ) : (
        <p className="quiet">Admins invite people and change roles. Ask one of them to bring somebody in.</p>
      )}
      {managesSome && <Invites />}
      {managesAll && <Members me={me} />}
      <Teams me={me} onMade={setMadeTeamId} />
      <Mails me={me} />
      {managesAll && <Sessions />}
    </div>
  );
}
