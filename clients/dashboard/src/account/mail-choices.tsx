import { useQuery } from '@tanstack/react-query';
import { MailFields, NoReports } from '../people/mails.js';
import { client } from '../session.js';
import { changed, Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';
import { changedHours, QuietHours } from '../ui/quiet-hours.js';

/** What one is mailed, and when. */
export function MailChoices() {
  const choices = useQuery({ queryKey: ['notifications'], queryFn: () => client.notifications.get() });
  return (
    <section aria-label="Mail">
      <h2>Mail</h2>
      <Loaded query={choices}>
        {({
          address,
          mailed,
          timezone,
          own: { quietHours: _own, atAnyHour: _any, ...kinds },
          own,
          effective,
          effective: { quietHours },
        }) => (
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
              <MailFields own={own} effective={effective} />
              <NoReports mailed={mailed} address={address} />
              <QuietHours hours={quietHours} timezone={timezone} />
            </Form>
          </>
        )}
      </Loaded>
    </section>
  );
}
