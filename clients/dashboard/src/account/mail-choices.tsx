import { useQuery } from '@tanstack/react-query';
import { NoReports } from '../people/mails.js';
import { client } from '../session.js';
import { changed, Field, Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';
import { changedHours, QuietHours } from '../ui/quiet-hours.js';

const WORDS = { all: 'All', urgent: 'Urgent only', digest: 'Once a day', none: 'None' } as const;
const KINDS = {
  approvals: ['What waits for your decision', ['all', 'urgent', 'digest', 'none']],
  escalations: ['Escalations', ['all', 'urgent', 'digest', 'none']],
  reports: ['Daily Report', ['all', 'none']],
} as const;
type Kind = keyof typeof KINDS;

/** What one is mailed, and when. */
export function MailChoices() {
  const choices = useQuery({ queryKey: ['notifications'], queryFn: () => client.notifications.get() });
  return (
    <section aria-label="Mail">
      <h2>Mail</h2>
      <Loaded query={choices}>
        {({ address, mailed, timezone, effective: { quietHours, ...kinds } }) => (
          <>
            <p>{address === null ? 'Nobody receives mail at your address.' : `Mails go to ${address}.`}</p>
            <Form
              key={JSON.stringify([quietHours, kinds])}
              about="mail choices"
              verb="Save what is mailed"
              act={(texts) => {
                const hours = changedHours(texts, quietHours);
                return client.notifications.update({
                  ...changed(texts, kinds),
                  ...(hours && { quietHours: hours, atAnyHour: false }),
                  ...(hours === null && { atAnyHour: true }),
                });
              }}
              stale={['notifications']}
              says="Saved."
            >
              {(Object.keys(KINDS) as Kind[]).map((kind) => (
                <Field key={kind} label={KINDS[kind][0]}>
                  <select name={kind} defaultValue={kinds[kind]}>
                    {KINDS[kind][1].map((choice) => (
                      <option key={choice} value={choice}>
                        {WORDS[choice]}
                      </option>
                    ))}
                  </select>
                </Field>
              ))}
              <NoReports mailed={mailed} address={address} />
              <QuietHours hours={quietHours} timezone={timezone} />
            </Form>
          </>
        )}
      </Loaded>
    </section>
  );
}
