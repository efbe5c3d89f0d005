import type { InviteView } from '@consigliere/sdk';
import { useMe } from '../me.js';
import { admin } from '../session.js';
import { Act } from '../ui/act.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { UnsentInvite } from './invite.js';
import { rolesOf } from './roles.js';

/** Who is invited and has not come yet. */
export function Invites() {
  return (
    <section aria-label="Invites">
      <h2>Invited</h2>
      <Listing<InviteView>
        queryKey={['invite']}
        list={(page) => admin.invites.list({ status: 'pending', ...page })}
        empty="Nobody is invited at present."
      >
        {(invite) => <Invited key={invite.inviteId} invite={invite} />}
      </Listing>
    </section>
  );
}

const MAIL = { queued: 'the mail is on its way', sent: 'mailed', failed: 'the mail could not be sent' };

function Invited({ invite }: { invite: InviteView }) {
  const { inviteId, teamId, email, name, role, mail, invitedBy, expiresAt } = invite;
  const me = useMe();
  const hasMailServer = me?.features.mailServer ?? true;
  const team = me?.teams.find((one) => one.teamId === teamId)?.name ?? 'that was archived';
  return (
    <li>
      <span className="title">{name ?? email}</span>
      <span className="facts">
        {name !== null && <span>{email}</span>}
        {rolesOf(role, teamId === null ? undefined : team).map((one) => (
          <span key={one}>{one}</span>
        ))}
        <span>by {invitedBy.name}</span>
        {hasMailServer && (
          <span className={mail.status === 'failed' ? 'urgent' : ''}>{MAIL[mail.status]}</span>
        )}
        <span>
          until <Time at={expiresAt} />
        </span>
      </span>
      {mail.error !== null && <p className="warning">{mail.error}</p>}
      {!hasMailServer && (
        <p className="quiet">
          <UnsentInvite inviteId={inviteId} email={email} />
        </p>
      )}
      <div className="row">
        <Act
          verb="Send again"
          of={`the invite of ${email}`}
          effect="A mail with a new link goes out. The link of before opens nothing any more."
          act={() => admin.invites.resend(inviteId)}
          stale={['invite']}
          says={`${email} is sent a mail with a new link.`}
        />
        <Act
          verb="Take back"
          of={`the invite of ${email}`}
          effect="Its link opens nothing any more."
          isDanger
          act={() => admin.invites.withdraw(inviteId)}
          stale={['invite']}
          says={`The invite of ${email} is taken back.`}
        />
      </div>
    </li>
  );
}
