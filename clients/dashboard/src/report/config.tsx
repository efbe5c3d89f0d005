import type { BootstrapView, InviteView, MemberView, ReportConfigView } from '@consigliere/sdk';
import type { ReactNode } from 'react';
import { client } from '../session.js';
import { Field, Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';
import { Time } from '../ui/time.js';
import { tell } from '../ui/told.js';
import { ZoneField } from '../ui/zone-field.js';
import { invitedIn, listed, MailedLater, MailedTo, namedIn, useGets } from './mailed-to.js';
import { MOST_OFFERED, useConfig, useInvites, useMembers } from './use-config.js';

const SECTIONS: Record<keyof ReportConfigView['sections'], string> = {
  revenue: 'What was earned',
  agentActivity: 'What the capos (the built-in assistants) did',
  approvalQueue: 'What waits for a person',
  trustIntelligence: 'What the partner persona service reported',
  costLedger: 'What models cost',
  guardianState: 'The guardian, and what it blocked',
  tomorrowQueue: 'What is under way',
};
type Section = keyof typeof SECTIONS;
const ALL = Object.keys(SECTIONS) as Section[];

const FORMATS = { email: 'a mail as people read it', 'plain-text': 'plain text', json: 'JSON for a program' };

/** Most workspaces are made in UTC, and hardly anybody means that by 07:00. */
const zoneOfBrowser = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** When the report is made, what it says and to whom it goes, for admins. */
export function Config({ me }: { me: BootstrapView }) {
  const config = useConfig(true);
  const members = useMembers(true);
  const invites = useInvites();
  return (
    <section aria-label="Settings of the report">
      <h2>When, what, to whom</h2>
      <Loaded query={config}>
        {(data) => (
          <>
            <p className="quiet">
              {data.nextReportAt === null ? (
                'Reports are made on request only.'
              ) : (
                <>
                  The next one is made <Time at={Date.parse(data.nextReportAt)} />.
                </>
              )}{' '}
              {members && <MailedTo me={me} config={data} members={members} />}{' '}
              {invites && <MailedLater config={data} invites={invites} />}
            </p>
            {data.delivery.email && !me.features.mailServer && (
              <p className="warning">No mail server is set up: each mail becomes a file on the server.</p>
            )}
            {members && invites && (
              <ConfigForm
                key={JSON.stringify(data)}
                me={me}
                config={data}
                members={members}
                invites={invites}
              />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function ConfigForm({
  me,
  config: { sections, delivery, format, schedule, timezone },
  members,
  invites,
}: {
  me: BootstrapView;
  config: ReportConfigView;
  members: readonly MemberView[];
  invites: readonly InviteView[];
}) {
  const gets = useGets(me);
  const typed = members.find(({ email }) => email.toLowerCase() === delivery.emailAddress?.toLowerCase());
  const save = (texts: Record<string, string>, data: FormData) => {
    const shown = new Set(members.map(({ memberId }) => memberId));
    const memberIds = [
      ...(data.getAll('member') as string[]),
      ...delivery.memberIds.filter((memberId) => !shown.has(memberId)),
    ];
    const offered = new Set(invites.map(({ inviteId }) => inviteId));
    const inviteIds = [
      ...(data.getAll('invite') as string[]),
      ...delivery.inviteIds.filter((inviteId) => !offered.has(inviteId)),
    ];
    return client.reports.updateConfig({
      schedule: texts['daily'] === undefined ? 'on-demand' : 'daily',
      format: texts['format'] as ReportConfigView['format'],
      delivery: {
        time: texts['time']!,
        timezone: texts['timezone'] || null,
        email: texts['address'] !== '' || memberIds.length + inviteIds.length > 0,
        emailAddress: texts['address'] || null,
        memberIds,
        inviteIds,
      },
      sections: Object.fromEntries(ALL.map((section) => [section, texts[section] !== undefined])),
    });
  };
  return (
    <Form
      about="report"
      verb="Save"
      act={save}
      stale={['report', 'notifications', 'invite']}
      onDone={(saved) => {
        const later = invitedIn(saved, invites).map((email) => `${email} once they accept`);
        tell(
          `Saved: ${saved.schedule === 'daily' ? `each day at ${saved.delivery.time}` : 'only when somebody asks'}. Recipients: ${listed([...namedIn(saved, members), ...later]) || 'nobody'}`,
        );
      }}
    >
      <label className="check">
        <input type="checkbox" name="daily" defaultChecked={schedule === 'daily'} />
        Make one each day, about the day before
      </label>
      <div className="beside">
        <Field label="At">
          <input name="time" type="time" required defaultValue={delivery.time} />
        </Field>
        <ZoneField
          label={`Zone (left out: ${me.workspace.timezone})`}
          zone={delivery.timezone ?? (timezone === 'UTC' ? zoneOfBrowser() : '')}
        />
      </div>
      <fieldset>
        <legend>
          Mailed to{' '}
          <span className="quiet">each in a mail of their own, with what they may read; none: nobody</span>
        </legend>
        {members.map(({ memberId, displayName, email, ...member }) => (
          <Choice key={memberId} name="member" id={memberId} chosen={delivery.memberIds}>
            {displayName} <span className="quiet">{email}</span> gets {gets(member)}
          </Choice>
        ))}
        {invites.map(({ inviteId, email, name, teamId }) => (
          <Choice key={inviteId} name="invite" id={inviteId} chosen={delivery.inviteIds}>
            {name ?? email}{' '}
            <span className="quiet">
              {name !== null && `${email}, `}invited
              {teamId !== null && ` to ${me.teams.find((team) => team.teamId === teamId)?.name}`}, mailed once
              they accept
            </span>
          </Choice>
        ))}
        {members.length === MOST_OFFERED && (
          <p className="quiet">Others can be named below, by their address.</p>
        )}
      </fieldset>
      <Field
        label="And to the address"
        hint={
          typed
            ? `of ${typed.displayName}, who gets ${gets(typed)}`
            : 'one only, such as that of a distribution list, which gets everything; that of somebody invited gets nothing before they accept, and then, like that of a member, what they may read'
        }
      >
        <input name="address" type="email" maxLength={254} defaultValue={delivery.emailAddress ?? ''} />
      </Field>
      <Field label="As">
        <select name="format" defaultValue={format}>
          {Object.entries(FORMATS).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </Field>
      <fieldset>
        <legend>Sections</legend>
        {ALL.map((section) => (
          <label key={section} className="check">
            <input type="checkbox" name={section} defaultChecked={sections[section]} />
            {SECTIONS[section]}
          </label>
        ))}
      </fieldset>
    </Form>
  );
}

/** One who can be chosen as a recipient. */
function Choice({
  name,
  id,
  chosen,
  children,
}: {
  name: 'member' | 'invite';
  id: string;
  chosen: readonly string[];
  children: ReactNode;
}) {
  return (
    <label className="check">
      <input type="checkbox" name={name} value={id} defaultChecked={chosen.includes(id)} />
      <span>{children}</span>
    </label>
  );
}
