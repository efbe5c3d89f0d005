import type { AddedToTeam, BootstrapView } from '@consigliere/sdk';
import { useState } from 'react';
import { mayAct, type Role } from '../me.js';
import { admin } from '../session.js';
import { Field, Form } from '../ui/form.js';
import { RoleOptions, rolesOf, rolesToGive } from './roles.js';

type TeamRole = Exclude<Role, 'owner'>;

/** Brings somebody in: into a team, or into the workspace alone; afterwards it says what happens next. */
export function Invite({ me }: { me: BootstrapView }) {
  const managed = me.teams.filter(({ teamId }) => mayAct(me, 'admin', teamId));
  const [teamId, setTeamId] = useState(managed[0]?.teamId ?? '');
  const team = managed.find((one) => one.teamId === teamId)?.name;
  const [done, setDone] = useState<AddedToTeam>();
  const invite = async ({ email, name, role }: Record<string, string>): Promise<AddedToTeam> => {
    const whom = { email: email!, ...(name && { name }) };
    return teamId
      ? admin.teamMembers.add(teamId, { ...whom, role: role as TeamRole })
      : { invite: await admin.members.invite({ ...whom, role: role as Role }) };
  };
  return (
    <section aria-label="Invite a colleague">
      <h2>Invite a colleague</h2>
      <Form
        about="invite"
        verb="Invite"
        act={invite}
        stale={['invite', 'member', 'team']}
        says={({ member, invite: made }) =>
          member
            ? `${member.displayName} is in the team ${team} now, and is ${member.role} of the workspace as before.`
            : `${made!.email} is invited as ${rolesOf(made!.role, team).join(' and ')}.`
        }
        onDone={setDone}
      >
        <Field label="Mail address of the colleague">
          <input name="email" type="email" required maxLength={254} autoComplete="off" />
        </Field>
        <Field label="Name of the colleague" hint="optional; they may choose another when they accept">
          <input name="name" maxLength={80} autoComplete="off" />
        </Field>
        <Field label="Team">
          <select value={teamId} onChange={({ target }) => setTeamId(target.value)}>
            {managed.map((one) => (
              <option key={one.teamId} value={one.teamId}>
                {one.name}
              </option>
            ))}
            {mayAct(me, 'admin') && <option value="">no team, the workspace alone</option>}
          </select>
        </Field>
        {mayAct(me, 'admin') && (
          <p className="quiet">
            Is the team not there yet? <a href="#teams">Make it under Teams</a> first.
          </p>
        )}
        <Field label={teamId ? 'Role in the team' : 'Role in the workspace'}>
          <select name="role" defaultValue="operator">
            <RoleOptions roles={rolesToGive(me, teamId !== '')} />
          </select>
        </Field>
        {team !== undefined && (
          <p>
            <strong>Role in the workspace: viewer</strong>{' '}
            <span className="quiet">
              Outside the team {team} they hand in nothing and decide nothing. Somebody who is in the
              workspace already keeps the role there. An admin changes it below, under Members.
            </span>
          </p>
        )}
      </Form>
      {done && <Outcome done={done} hasMailServer={me.features.mailServer} />}
    </section>
  );
}

/** What happens next with somebody who was invited. */
export function Outcome({
  done: { member, invite },
  hasMailServer,
}: {
  done: AddedToTeam;
  hasMailServer: boolean;
}) {
  if (member) {
    return <p role="status">{member.displayName} was in the workspace already, and is in the team now.</p>;
  }
  if (!invite) return null;
  return (
    <p role="status">
      {hasMailServer ? (
        <>
          A mail with a link goes to {invite.email}. The link opens a page that asks for a name and a
          password, and works once, for seven days.
        </>
      ) : (
        <UnsentInvite inviteId={invite.inviteId} email={invite.email} />
      )}
    </p>
  );
}

/** Without a mail server: where the mail lies. Only the mail holds the link, so that nobody but its reader becomes that person. */
export function UnsentInvite({ inviteId, email }: { inviteId: string; email: string }) {
  return (
    <>
      No mail server is set up, so nothing was sent to {email}. The mail with the link is a file on the
      server: <code>DATA_DIR/outbox/{inviteId}n….eml</code>. Hand it over, or have SMTP_URL and MAIL_FROM set
      and send the invite again.
    </>
  );
}
