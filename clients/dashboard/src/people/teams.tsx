import type { BootstrapView, MemberView, TeamView } from '@consigliere/sdk';
import { useState } from 'react';
import { mayAct, type Role } from '../me.js';
import { admin } from '../session.js';
import { Act } from '../ui/act.js';
import { Field, Form } from '../ui/form.js';
import { Listing } from '../ui/listing.js';
import { RoleOptions, rolesToGive } from './roles.js';

/** What changes with teams: who sees what is part of what is known of oneself. */
const STALE = ['team', 'member', 'me'] as const;

/** The teams that one sees, and who is in them. */
export function Teams({ me, onMade }: { me: BootstrapView; onMade: (teamId: string) => void }) {
  const mayMake = mayAct(me, 'admin');
  return (
    <section aria-label="Teams" id="teams">
      <h2>Teams</h2>
      {mayMake && (
        <Form
          about="team"
          verb="Make the team"
          act={({ name }) => admin.teams.create({ name: name! })}
          stale={STALE}
          says={({ name }) => `The team ${name} is made.`}
          onDone={({ teamId }) => onMade(teamId)}
        >
          <Field
            label="Name of the new team"
            hint="members see the work of their own teams; owner and admins see everything"
          >
            <input name="name" required maxLength={80} />
          </Field>
        </Form>
      )}
      <Listing<TeamView>
        queryKey={['team']}
        list={(page) => admin.teams.list({ status: 'active', ...page })}
        empty={mayMake ? 'No team yet: everybody sees everything.' : 'You are in no team.'}
      >
        {(team) => <Team key={team.teamId} me={me} team={team} />}
      </Listing>
    </section>
  );
}

function Team({ me, team: { teamId, name, memberCount } }: { me: BootstrapView; team: TeamView }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <strong>{name}</strong> <span className="count">{memberCount}</span>
        </summary>
        {isOpen && (
          <Listing<MemberView>
            name={`members of ${name}`}
            queryKey={['team', teamId]}
            list={(page) => admin.teamMembers.list(teamId, page)}
            empty="Nobody is in this team. Invite somebody above."
          >
            {(member) => (
              <TeamMember key={member.memberId} me={me} teamId={teamId} name={name} member={member} />
            )}
          </Listing>
        )}
      </details>
      {mayAct(me, 'admin') && (
        <div className="row">
          <Act
            verb="Rename"
            of={name}
            id={teamId}
            effect="Its work and its members stay as they are."
            act={({ name: next }) => admin.teams.rename(teamId, { name: next! })}
            stale={STALE}
            says={(renamed) => `The team ${name} is called ${renamed.name} now.`}
          >
            <Field label="New name">
              <input name="name" defaultValue={name} required maxLength={80} />
            </Field>
          </Act>
          <Act
            verb="Archive"
            of={name}
            id={teamId}
            effect="Its members leave it, and those who were here for it alone leave the workspace. Its open work goes where you say."
            isDanger
            act={({ moveTo }) => admin.teams.archive(teamId, { moveTo: moveTo || null })}
            stale={[...STALE, 'invite']}
            says={`The team ${name} is archived.`}
          >
            <Field label="Its open work goes to">
              <select name="moveTo">
                <option value="">no team</option>
                {me.teams
                  .filter((one) => one.teamId !== teamId)
                  .map((one) => (
                    <option key={one.teamId} value={one.teamId}>
                      {one.name}
                    </option>
                  ))}
              </select>
            </Field>
          </Act>
        </div>
      )}
    </li>
  );
}

function TeamMember({
  me,
  teamId,
  name,
  member: { memberId, displayName, email, teams },
}: {
  me: BootstrapView;
  teamId: string;
  name: string;
  member: MemberView;
}) {
  const role = teams.find((team) => team.teamId === teamId)?.role ?? 'viewer';
  return (
    <li>
      <span className="title">{displayName}</span>
      <span className="facts">
        <span>{email}</span>
        <span className="count">{role}</span>
      </span>
      {mayAct(me, 'admin', teamId) && (
        <div className="row">
          <Act
            verb="Change the role"
            of={`of ${displayName} in ${name}`}
            id={`${memberId} ${teamId}`}
            effect={`The role in the team ${name} alone.`}
            act={({ role: next }) =>
              admin.teamMembers.update(teamId, memberId, { role: next as Exclude<Role, 'owner'> })
            }
            stale={STALE}
            says={({ teams: now }) =>
              `${displayName} is ${now.find((team) => team.teamId === teamId)?.role} of the team ${name} now.`
            }
          >
            <Field label="Role in the team">
              <select name="role" defaultValue={role}>
                <RoleOptions roles={rolesToGive(me, true)} />
              </select>
            </Field>
          </Act>
          <Act
            verb="Take out"
            of={`${displayName} of ${name}`}
            effect="They see nothing of this team any more. Who was in the workspace for it alone leaves the workspace too."
            isDanger
            act={() => admin.teamMembers.remove(teamId, memberId)}
            stale={STALE}
            says={`${displayName} is not in the team ${name} any more.`}
          />
        </div>
      )}
    </li>
  );
}
