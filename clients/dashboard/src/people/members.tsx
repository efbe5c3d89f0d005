import type { BootstrapView, MemberView } from '@consigliere/sdk';
import type { Role } from '../me.js';
import { admin } from '../session.js';
import { Act } from '../ui/act.js';
import { Field } from '../ui/form.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { mailsTo, useMails } from './mails.js';
import { mayManage, RoleOptions, rolesToGive } from './roles.js';

/** The members of the workspace, for those who manage them. */
export function Members({ me }: { me: BootstrapView }) {
  return (
    <section aria-label="Members">
      <h2>Members</h2>
      <Listing<MemberView>
        queryKey={['member']}
        list={(page) => admin.members.list({ status: 'active', ...page })}
        empty="Nobody but you. Invite a colleague above."
      >
        {(member) => <Member key={member.memberId} me={me} member={member} />}
      </Listing>
    </section>
  );
}

function Member({ me, member }: { me: BootstrapView; member: MemberView }) {
  const { memberId, email, displayName, role, teams, lastSeenAt } = member;
  const mailed = useMails().data?.mailed;
  const isMe = memberId === me.operator.memberId;
  return (
    <li>
      <span className="title">
        {displayName} {isMe && '(you)'}
      </span>
      <span className="facts">
        <span>{email}</span>
        <span className="count">{role} of the workspace</span>
        {teams.map((team) => (
          <span key={team.teamId}>
            {team.role} of the team{' '}
            {me.teams.find(({ teamId }) => teamId === team.teamId)?.name ?? 'that was archived'}
          </span>
        ))}
        {!isMe && (
          <span>
            {lastSeenAt === null ? (
              'not seen yet'
            ) : (
              <>
                seen <Time at={lastSeenAt} />
              </>
            )}
          </span>
        )}
        {mailed && <span>{mailsTo(mailed, email)}</span>}
      </span>
      {mayManage(me, role) && (
        <div className="row">
          <Act
            verb="Change the role"
            of={`of ${displayName}`}
            id={memberId}
            effect="The role in the workspace. It holds from the next request on."
            act={({ role: next }) => admin.members.update(memberId, { role: next as Role })}
            stale={['member', 'me']}
            says={(changed) => `${displayName} is ${changed.role} of the workspace now.`}
          >
            <Field label="Role in the workspace">
              <select name="role" defaultValue={role}>
                <RoleOptions roles={rolesToGive(me, false)} />
              </select>
            </Field>
          </Act>
          {!isMe && (
            <Act
              verb="Remove"
              of={displayName}
              effect="Their sessions and tokens, and tokens that they made, open nothing any more after a second; their invites are taken back. What they decided stays."
              isDanger
              act={() => admin.members.remove(memberId)}
              stale={['member', 'team', 'invite', 'session']}
              says={`${displayName} is removed from the workspace.`}
            />
          )}
        </div>
      )}
    </li>
  );
}
