import type { BootstrapView, SettingsView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { mayAct, useMe } from '../me.js';
import { ALL, KINDS, MailOptions } from '../people/mails.js';
import { admin, client, resume } from '../session.js';
import { Options } from '../setup/workspace.js';
import { Act } from '../ui/act.js';
import { changed, Field, Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';
import { changedHours, QuietHours } from '../ui/quiet-hours.js';
import { ZoneField } from '../ui/zone-field.js';
import { Retention } from './retention.js';

const STALE = ['settings', 'me', 'notifications'] as const;

/** What holds for the whole workspace. */
export function SettingsPage() {
  const me = useMe();
  const settings = useQuery({ queryKey: ['settings'], queryFn: () => client.settings.get() });
  if (!me) return <p className="empty">Loading.</p>;
  const isAdmin = mayAct(me, 'admin');
  return (
    <div className="page">
      <h1>Settings</h1>
      {!isAdmin && <p className="quiet">Admins change these settings.</p>}
      <Loaded query={settings}>
        {(data) => (
          <>
            {mayAct(me, 'owner') && <Name me={me} />}
            {isAdmin ? <Forms settings={data} /> : <Figures settings={data} />}
            <SecondFactor me={me} chosen={data.secondFactor} />
            <Retention days={data.retention} isAdmin={isAdmin} />
          </>
        )}
      </Loaded>
    </div>
  );
}

function Name({ me: { workspace } }: { me: BootstrapView }) {
  return (
    <section aria-label="Name">
      <h2>Name</h2>
      <Form
        key={workspace.name}
        about="workspace name"
        verb="Rename"
        act={({ name }) => admin.workspace.rename({ name: name! })}
        stale={['me', 'workspace']}
      >
        <Field label="Name of the workspace" hint="members and recipients of mails see it">
          <input name="name" required maxLength={60} defaultValue={workspace.name} />
        </Field>
      </Form>
    </section>
  );
}

function Forms({ settings }: { settings: SettingsView }) {
  const { sender, timezone, locale, currency, quietHours, notifications } = settings;
  const general = { timezone, locale, currency };
  return (
    <>
      <section aria-label="Sender">
        <h2>Sender</h2>
        <Form
          key={JSON.stringify(sender)}
          about="sender"
          verb="Save the sender"
          act={(texts) => client.settings.update({ sender: changed(texts, sender) })}
          stale={STALE}
        >
          <Field label="Who signs mails" hint="if empty: the member who hands in the directive">
            <input name="name" maxLength={100} defaultValue={sender.name ?? ''} />
          </Field>
          <Field label="Signature" hint="below the name">
            <textarea name="signature" maxLength={1_000} defaultValue={sender.signature ?? ''} />
          </Field>
          <Field label="Reply-to address" hint="if empty: the sender of the mail">
            <input name="replyTo" type="email" maxLength={254} defaultValue={sender.replyTo ?? ''} />
          </Field>
        </Form>
      </section>
      <section aria-label="Time zone and currency">
        <h2>Time zone, language and currency</h2>
        <Form
          key={JSON.stringify(general)}
          about="zone and currency"
          verb="Save time zone and currency"
          act={(texts) => client.settings.update(changed(texts, general))}
          stale={STALE}
        >
          <ZoneField label="Time zone" zone={timezone} isRequired />
          <Field label="Language" hint="such as en or de-AT">
            <input name="locale" required maxLength={85} defaultValue={locale} />
          </Field>
          <Field label="Currency">
            <Options
              name="currency"
              chosen={currency}
              options={new Set([currency, ...Intl.supportedValuesOf('currency')])}
            />
          </Field>
        </Form>
      </section>
      <section aria-label="Mails to members">
        <h2>Mails to members</h2>
        <Form
          key={JSON.stringify([notifications, quietHours])}
          about="mails to members"
          verb="Save mails and quiet hours"
          act={(texts) => {
            const hours = changedHours(texts, quietHours);
            return client.settings.update({
              notifications: changed(texts, notifications),
              ...(hours !== undefined && { quietHours: hours }),
            });
          }}
          stale={STALE}
        >
          {ALL.map((kind) => (
            <Field key={kind} label={KINDS[kind]} hint="unless a member chooses otherwise">
              <select name={kind} defaultValue={notifications[kind]}>
                <MailOptions kind={kind} />
              </select>
            </Field>
          ))}
          <QuietHours hours={quietHours} timezone={timezone} />
        </Form>
      </section>
    </>
  );
}

/** The same to read, for those who may not change it. */
function Figures({
  settings: { sender, timezone, locale, currency, quietHours },
}: {
  settings: SettingsView;
}) {
  const figures = {
    'Who signs mails': sender.name ?? 'the member who hands in the directive',
    Signature: sender.signature ?? 'none',
    'Reply-to address': sender.replyTo ?? 'the sender of the mail',
    'Time zone': timezone,
    Language: locale,
    Currency: currency,
    'Quiet hours': quietHours ? `${quietHours.from} to ${quietHours.to}` : 'none',
  };
  return (
    <dl className="figures">
      {Object.entries(figures).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="output">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const WHO = {
  optional: 'nobody',
  required: 'owners and admins',
  everyone: 'everybody',
} as const;

function SecondFactor({ me, chosen }: { me: BootstrapView; chosen: keyof typeof WHO }) {
  return (
    <section aria-label="Second factor">
      <h2>Second factor</h2>
      <p>A second factor is required of {WHO[chosen]}.</p>
      {mayAct(me, 'owner') ? (
        <Act
          verb="Change who"
          of="must have a second factor"
          id="second factor"
          effect="Members who must have one can do nothing here until they set it up. That includes you."
          act={({ who }) => client.settings.update({ secondFactor: who as keyof typeof WHO })}
          stale={STALE}
          onDone={() => void resume().catch(() => undefined)}
        >
          <Field label="Who must have one">
            <select name="who" defaultValue={chosen}>
              {Object.entries(WHO).map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          </Field>
        </Act>
      ) : (
        <p className="quiet">Only owners change that.</p>
      )}
    </section>
  );
}
