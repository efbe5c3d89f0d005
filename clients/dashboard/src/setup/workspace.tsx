import type { SettingsView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { useMe } from '../me.js';
import { admin, client } from '../session.js';
import { Field, Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';

/** The time zone, sender and currency of the workspace, with what the browser knows filled in. */
export function Workspace() {
  const settings = useQuery({ queryKey: ['settings'], queryFn: () => client.settings.get() });
  return (
    <Loaded query={settings}>
      {(data) => (
        <Settings key={JSON.stringify([data.timezone, data.currency, data.sender])} settings={data} />
      )}
    </Loaded>
  );
}

function Settings({ settings: { timezone, currency, sender } }: { settings: SettingsView }) {
  const me = useMe();
  // Until somebody says who signs, nobody has been asked.
  const isNew = sender.name === null;
  const { timeZone: here } = Intl.DateTimeFormat().resolvedOptions();
  return (
    <details open={isNew}>
      <summary>
        {isNew
          ? 'Time zone, sender and currency'
          : `Time zone ${timezone}, sender ${sender.name}, currency ${currency}`}
      </summary>
      <Form
        about="first settings"
        verb="Save"
        act={async ({ organisation, zone, name, signature, replyTo, money }) => {
          if (organisation && organisation !== me?.workspace.name) {
            await admin.workspace.rename({ name: organisation });
          }
          return client.settings.update({
            timezone: zone!,
            currency: money!,
            sender: { name: name!, signature: signature!.trim() || name!, replyTo: replyTo || null },
          });
        }}
        stale={['settings', 'me', 'workspace']}
      >
        {me?.role === 'owner' && (
          <Field label="Name of your organisation" hint="it stands in invites and reports">
            <input name="organisation" required maxLength={60} defaultValue={me.workspace.name} />
          </Field>
        )}
        <Field label="Time zone">
          <Options
            name="zone"
            chosen={isNew ? here : timezone}
            options={new Set([timezone, here, 'UTC', ...Intl.supportedValuesOf('timeZone')])}
          />
        </Field>
        <Field label="Who signs mails">
          <input
            name="name"
            required
            maxLength={100}
            autoComplete="name"
            defaultValue={sender.name ?? me?.operator.handle}
          />
        </Field>
        <Field label="Signature" hint="below the text of each mail; if empty: the name">
          <textarea
            name="signature"
            maxLength={1_000}
            defaultValue={sender.signature === sender.name ? '' : (sender.signature ?? '')}
          />
        </Field>
        <Field label="Reply-to address" hint="if empty: the sender of the mail">
          <input name="replyTo" type="email" defaultValue={sender.replyTo ?? ''} />
        </Field>
        <Field label="Currency">
          <Options
            name="money"
            chosen={currency}
            options={new Set([currency, ...Intl.supportedValuesOf('currency')])}
          />
        </Field>
      </Form>
    </details>
  );
}

/** One of many words, such as a currency. */
export function Options({
  name,
  chosen,
  options,
}: {
  name: string;
  chosen: string;
  options: ReadonlySet<string>;
}) {
  return (
    <select name={name} defaultValue={chosen}>
      {[...options].map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}
