import type {
  BootstrapView,
  CustomSectionView,
  InviteView,
  MemberView,
  ReportConfigView,
  ReportRecipientView,
  ReportSummary,
} from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { mayAct, useMe } from '../me.js';
import { useMails } from '../people/mails.js';
import { admin, client } from '../session.js';
import { Act } from '../ui/act.js';
import { Field, Form } from '../ui/form.js';
import { Loaded, Rows } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { tell } from '../ui/told.js';
import { ZoneField } from '../ui/zone-field.js';

const SECTIONS: Record<keyof ReportConfigView['sections'], string> = {
  revenue: 'What was earned',
  agentActivity: 'What the capos did',
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

/** When the Daily Report is made, what it says, to whom it goes, and what became of those before. */
export function ReportPage() {
  const me = useMe();
  if (!me) return <p className="empty">Loading.</p>;
  const isAdmin = mayAct(me, 'admin');
  const isPart = !isAdmin && me.teams.length > 0;
  return (
    <div className="page">
      <h1>Daily Report</h1>
      <p>
        <Link to="/overview" search={{ view: 'boss' }}>
          Read what {isPart ? 'your teams did' : 'was done'} on the last day.
        </Link>
      </p>
      {isAdmin ? (
        <>
          <Config me={me} />
          <CustomSections me={me} />
        </>
      ) : (
        <p className="quiet">Admins set when it is made, what it says and to whom it goes.</p>
      )}
      {isPart ? (
        <p>
          Once an admin has named you as a recipient, you are mailed your teams’ part each morning. The whole
          report is for owners and admins.
        </p>
      ) : (
        <section aria-label="History">
          <h2>History</h2>
          <Listing<ReportSummary>
            name="daily reports"
            queryKey={['report', 'history']}
            list={(page) => client.reports.list(page)}
            empty="No report was made yet. The first one is made at the time above, about the day before."
          >
            {(report) => <Report key={report.reportId} me={me} report={report} isAdmin={isAdmin} />}
          </Listing>
        </section>
      )}
    </div>
  );
}

function useConfig(isAdmin: boolean) {
  return useQuery({
    queryKey: ['report', 'config'],
    queryFn: () => client.reports.getConfig(),
    enabled: isAdmin,
  });
}

const MOST_OFFERED = 100;

/** The members, for those who name recipients or read what became of their mails. */
function useMembers(isAdmin: boolean) {
  return useQuery({
    queryKey: ['member', 'active'],
    queryFn: () => client.members.list({ status: 'active', limit: MOST_OFFERED }),
    enabled: isAdmin,
    staleTime: 60_000,
  }).data?.items;
}

/** Those who are invited and have not accepted yet. */
function useInvites() {
  return useQuery({
    queryKey: ['invite', 'pending'],
    queryFn: () => admin.invites.list({ status: 'pending', limit: MOST_OFFERED }),
    staleTime: 60_000,
  }).data?.items;
}

function nameOf(members: readonly MemberView[] | undefined, memberId: string): string {
  return members?.find((member) => member.memberId === memberId)?.displayName ?? memberId;
}

function Config({ me }: { me: BootstrapView }) {
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

/** Those who are named and are mailed now, in words. */
function namedIn(
  { delivery: { email, emailAddress, memberIds } }: ReportConfigView,
  members: readonly MemberView[] | undefined,
): string[] {
  if (!email) return [];
  const names = memberIds.map((id) => nameOf(members, id));
  return emailAddress === null ? names : [...names, emailAddress];
}

/** The addresses of those who are chosen and have not accepted. */
function invitedIn({ delivery }: ReportConfigView, invites: readonly InviteView[]): string[] {
  const chosen = delivery.inviteIds.flatMap(
    (id) => invites.find(({ inviteId }) => inviteId === id)?.email ?? [],
  );
  return [...new Set(chosen)];
}

function MailedLater({ config, invites }: { config: ReportConfigView; invites: readonly InviteView[] }) {
  const later = invitedIn(config, invites);
  return later.length === 0 ? null : <>{listed(later)}: mailed once they accept their invite.</>;
}

const listed = (names: readonly string[]) => new Intl.ListFormat('en').format(names);

/** To whom it goes really: a member may have chosen none, and without a mail server it reaches nobody. */
function MailedTo({
  me,
  config,
  members,
}: {
  me: BootstrapView;
  config: ReportConfigView;
  members: readonly MemberView[];
}) {
  const mailed = useMails().data?.mailed?.reports;
  const named = namedIn(config, members);
  if (named.length === 0) return <>It is mailed to nobody.</>;
  if (!me.features.mailServer)
    return <>It would be mailed to {listed(named)}, and is mailed to nobody without a mail server.</>;
  if (!mailed) return null;
  const { emailAddress, memberIds } = config.delivery;
  const addresses = new Set(mailed.map((address) => address.toLowerCase()));
  const reached = members.filter(({ memberId }) => memberIds.includes(memberId));
  const isMailed = ({ email }: MemberView) => addresses.has(email.toLowerCase());
  const others = emailAddress !== null && addresses.has(emailAddress.toLowerCase()) ? [emailAddress] : [];
  const to = [...reached.filter(isMailed).map(({ displayName }) => displayName), ...others];
  const none = reached.filter((member) => !isMailed(member)).map(({ displayName }) => displayName);
  return (
    <>
      {to.length > 0 ? `It is mailed to ${listed(to)}.` : 'It is mailed to nobody.'}
      {none.length > 0 &&
        ` ${listed(none)} ${none.length === 1 ? 'gets' : 'get'} no mail: reports are switched off for them, they are in no team, or their address is unreachable.`}
    </>
  );
}

/** What a member is mailed, in words: what they may read. */
function useGets(me: BootstrapView): (member: Pick<MemberView, 'role' | 'teams'>) => string {
  // What a team did stays its own after it was archived.
  const archived = useQuery({
    queryKey: ['team', 'archived', 'any'],
    queryFn: () => client.teams.list({ status: 'archived', limit: 1 }),
    enabled: me.teams.length === 0,
  }).data?.items.length;
  const hasTeams = me.teams.length > 0 || archived !== 0;
  return ({ role, teams }) => {
    if (!hasTeams || role === 'owner' || role === 'admin') return 'everything';
    const names = me.teams
      .filter(({ teamId }) => teams.some((team) => team.teamId === teamId))
      .map(({ name }) => name);
    if (names.length === 0) return 'nothing while in no team';
    return names.length === 1 ? `what team ${names[0]} does` : `what teams ${listed(names)} do`;
  };
}

/** Who is invited into a team reads what that team does. */
const inTeam = (teamId: string): Pick<MemberView, 'role' | 'teams'> => ({
  role: 'viewer',
  teams: [{ teamId, role: 'viewer' }],
});

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
          <label key={memberId} className="check">
            <input
              type="checkbox"
              name="member"
              value={memberId}
              defaultChecked={delivery.memberIds.includes(memberId)}
            />
            <span>
              {displayName} <span className="quiet">{email}</span> gets {gets(member)}
            </span>
          </label>
        ))}
        {invites.map(({ inviteId, email, teamId, role }) => (
          <label key={inviteId} className="check">
            <input
              type="checkbox"
              name="invite"
              value={inviteId}
              defaultChecked={delivery.inviteIds.includes(inviteId)}
            />
            <span>
              {email}{' '}
              <span className="quiet">
                invited{teamId !== null && ` to ${me.teams.find((team) => team.teamId === teamId)?.name}`},
                mailed once they accept: gets {gets(teamId === null ? { role, teams: [] } : inTeam(teamId))}
              </span>
            </span>
          </label>
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
            : 'one, such as that of a distribution list: it gets everything, a colleague’s only what they may read'
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

/** Sections that a capo writes for each report. */
function CustomSections({ me }: { me: BootstrapView }) {
  const sections = useQuery({
    queryKey: ['report_section'],
    queryFn: () => client.reports.listSections(),
  });
  return (
    <section aria-label="Sections of your own">
      <h2>Sections of your own</h2>
      <Loaded query={sections}>
        {({ items }) => (
          <Rows items={items} empty="None. A capo can answer a question of yours in each report.">
            {({ sectionId, title, directive, capo }: CustomSectionView) => (
              <li key={sectionId}>
                <span className="title">{title}</span>
                <span>{directive}</span>
                <span className="facts">
                  <span>{capo.replace('capo_', '')} writes it</span>
                </span>
                <Act
                  verb="Delete"
                  of={title}
                  effect="Reports have it no more. Those made before keep it."
                  isDanger
                  act={() => client.reports.deleteSection(sectionId)}
                  stale={['report_section']}
                  says={`Deleted: ${title}`}
                />
              </li>
            )}
          </Rows>
        )}
      </Loaded>
      <Form
        about="section"
        verb="Add the section"
        act={({ title, directive, capo }) =>
          client.reports.addSection({ title: title!, directive: directive!, capo: capo as 'capo_ops' })
        }
        stale={['report_section']}
        onDone={(added) => tell(`Added: ${added.title}. The next report has it.`)}
      >
        <Field label="Title of the section">
          <input name="title" required maxLength={120} />
        </Field>
        <Field label="What it answers">
          <textarea name="directive" required maxLength={4_000} />
        </Field>
        <Field label="Who writes it" hint="capos are the built-in assistants">
          <select name="capo">
            {me.capos.map(({ role, name }) => (
              <option key={role} value={role}>
                {name}
              </option>
            ))}
          </select>
        </Field>
      </Form>
    </section>
  );
}

const DELIVERY = {
  none: 'not mailed',
  waiting: 'its mail waits',
  sending: 'its mail is on its way',
  sent: 'mailed',
  failed: 'its mail failed',
};

/** Without a mail server what is sent is written to a file. */
function outcomeOf({ features }: BootstrapView, status: keyof typeof DELIVERY): string {
  return status === 'sent' && !features.mailServer ? 'written to a file on the server' : DELIVERY[status];
}

function Report({ me, report, isAdmin }: { me: BootstrapView; report: ReportSummary; isAdmin: boolean }) {
  const { reportId, date, headline, generatedAt, trigger, delivery, recipients } = report;
  const isMailed = useConfig(isAdmin).data?.delivery.email;
  const members = useMembers(isAdmin);
  const hasFailed = recipients.some(({ status }) => status === 'failed');
  return (
    <li>
      <span className="title">{date}</span>
      <span>{headline}</span>
      <span className="facts">
        <span>
          made <Time at={Date.parse(generatedAt)} />
        </span>
        {trigger === 'on-demand' && <span>asked for</span>}
        <span className={delivery.status === 'failed' ? 'urgent' : ''}>{outcomeOf(me, delivery.status)}</span>
      </span>
      {isAdmin && recipients.length > 0 && (
        <ul aria-label={`Mails of the report of ${date}`}>
          {recipients.map((recipient) => (
            <Recipient
              me={me}
              key={recipient.memberId ?? recipient.address}
              recipient={recipient}
              name={recipient.memberId === null ? recipient.address! : nameOf(members, recipient.memberId)}
            />
          ))}
        </ul>
      )}
      <div className="row">
        <Link className="button" to="/overview" search={{ view: 'boss', date }}>
          Read
        </Link>
        {isMailed && (
          <Act
            verb="Send again"
            of={`the report of ${date}`}
            effect="The report as it was made is mailed again to all recipients."
            act={() => client.reports.resend(reportId)}
            stale={['report']}
            says={`Mailed again: the report of ${date}`}
          />
        )}
        {isMailed && hasFailed && (
          <Act
            verb="Send to those it did not reach"
            of={`the report of ${date}`}
            effect="Only recipients whose mail failed are mailed again."
            act={() => client.reports.resend(reportId, { to: 'failed' })}
            stale={['report']}
            says={`Mailed again to those it did not reach: the report of ${date}`}
          />
        )}
      </div>
    </li>
  );
}

/** What became of the mail to one recipient, and why. */
function Recipient({
  me,
  recipient: { status, at, error },
  name,
}: {
  me: BootstrapView;
  recipient: ReportRecipientView;
  name: string;
}) {
  return (
    <li>
      {name}: <span className={status === 'failed' ? 'urgent' : ''}>{outcomeOf(me, status)}</span>
      {at !== null && (
        <>
          {' '}
          <Time at={Date.parse(at)} />
        </>
      )}
      {error !== null && <span className="quiet"> {error}</span>}
    </li>
  );
}
