import type {
  BootstrapView,
  ChangeNotificationChoices,
  MailedView,
  NotificationChoicesView,
} from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../session.js';
import { Field, Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';

export const KINDS = { approvals: 'Approvals', escalations: 'Escalations', reports: 'Daily Report' } as const;
type Kind = keyof typeof KINDS;
export const ALL = Object.keys(KINDS) as Kind[];

const CHOICES: Record<string, string> = {
  all: 'all of them, at once',
  urgent: 'urgent ones only',
  digest: 'once a day, urgent ones at once',
  none: 'none',
};

/** Who is mailed what, and what oneself is mailed. */
export function useMails() {
  return useQuery({ queryKey: ['notifications'], queryFn: () => client.notifications.get() });
}

/** What one member is mailed, in a few words. */
export function mailsTo(mailed: MailedView, email: string): string {
  const kinds = ALL.filter((kind) => mailed[kind].some((one) => one.toLowerCase() === email.toLowerCase()));
  if (kinds.length === 0) return 'mailed nothing';
  return `mailed ${kinds.map((kind) => KINDS[kind].toLowerCase()).join(', ')}`;
}

/** What one chooses about reports says nothing while no admin has named one as a recipient. */
export function NoReports({
  mailed,
  address,
}: {
  mailed: MailedView | null | undefined;
  address: string | null;
}) {
  const isMailed = mailed?.reports.some((one) => one.toLowerCase() === address?.toLowerCase());
  if (!mailed || isMailed) return null;
  return (
    <p className="quiet">
      You are not mailed the Daily Report. Admins name its recipients under{' '}
      <Link to="/report">Daily Report</Link>; what you choose here counts once they have named you.
    </p>
  );
}

type Choices = Pick<NotificationChoicesView, 'own' | 'effective'>;

/** What one is mailed of each kind, as the workspace says or as one chooses. */
export function MailFields({ own, effective }: Choices) {
  return ALL.map((kind) => (
    <Field key={kind} label={`${KINDS[kind]}: I am mailed`}>
      <select name={kind} defaultValue={own[kind] ?? ''}>
        <option value="">
          as the workspace says{own[kind] === null && ` (${CHOICES[effective[kind]]})`}
        </option>
        <MailOptions kind={kind} />
      </select>
    </Field>
  ));
}

/** How many mails of a kind one can choose to get. */
export function MailOptions({ kind }: { kind: Kind }) {
  return Object.keys(CHOICES)
    .filter((choice) => kind !== 'reports' || choice === 'all' || choice === 'none')
    .map((choice) => (
      <option key={choice} value={choice}>
        {CHOICES[choice]}
      </option>
    ));
}

export function Mails({ me }: { me: BootstrapView }) {
  const mails = useMails();
  return (
    <section aria-label="Mails">
      <h2>Who is mailed</h2>
      <Loaded query={mails}>
        {({ mailed, own, effective, address }) => (
          <>
            {!me.features.mailServer && (
              <p className="warning">
                Mails are written to files on the server and sent to nobody until SMTP_URL and MAIL_FROM are
                set there.
              </p>
            )}
            {mailed && (
              <dl className="figures">
                {ALL.map((kind) => (
                  <div key={kind}>
                    <dt>{KINDS[kind]}</dt>
                    <dd className="output">{mailed[kind].join(', ') || 'Nobody is mailed.'}</dd>
                  </div>
                ))}
              </dl>
            )}
            {address === null && (
              <p className="warning">
                Nobody receives mail at {me.operator.email}, so you are mailed nothing. Invite yourself at an
                address of yours.
              </p>
            )}
            <Form
              key={JSON.stringify(own)}
              about="own mails"
              verb="Save what I am mailed"
              act={(texts) =>
                client.notifications.update(
                  Object.fromEntries(
                    ALL.map((kind) => [kind, texts[kind] || null]),
                  ) as ChangeNotificationChoices,
                )
              }
              stale={['notifications']}
              says="What you are mailed is saved."
            >
              <MailFields own={own} effective={effective} />
              <NoReports mailed={mailed} address={me.operator.email} />
            </Form>
          </>
        )}
      </Loaded>
    </section>
  );
}
