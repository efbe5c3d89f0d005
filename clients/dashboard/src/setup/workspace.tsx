import type { ChangeSettingsBody, SettingsView } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { useMe } from '../me.js';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { textsOf } from '../ui/texts-of.js';

/** The zone, sender and currency of the workspace, with what the browser knows filled in. */
export function Workspace() {
  const settings = useQuery({ queryKey: ['settings'], queryFn: () => client.settings.get() });
  if (settings.error) return <Failure error={settings.error} onRetry={() => void settings.refetch()} />;
  return settings.data ? <Form settings={settings.data} /> : null;
}

function Form({ settings: { timezone, currency, sender } }: { settings: SettingsView }) {
  const queries = useQueryClient();
  const me = useMe();
  // Until somebody says who signs, nobody has been asked.
  const isNew = sender.name === null;
  const save = useMutation({
    mutationFn: (body: ChangeSettingsBody) => client.settings.update(body),
    onSuccess: (saved) => {
      queries.setQueryData(['settings'], saved);
      return queries.invalidateQueries({ queryKey: ['me'] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { zone, name, signature, replyTo, money } = textsOf(event.currentTarget);
    save.mutate({
      timezone: zone!,
      currency: money!,
      sender: { name: name!, signature: signature!.trim() || name!, replyTo: replyTo || null },
    });
  };
  const { timeZone: here } = Intl.DateTimeFormat().resolvedOptions();
  return (
    <details open={isNew}>
      <summary>
        {isNew
          ? 'Zone, sender and currency'
          : `Zone ${timezone}, sender ${sender.name}, currency ${currency}`}
      </summary>
      <form onSubmit={submit}>
        <label>
          Zone
          <Options
            name="zone"
            chosen={isNew ? here : timezone}
            options={new Set([timezone, here, 'UTC', ...Intl.supportedValuesOf('timeZone')])}
          />
        </label>
        <label>
          Who signs mails
          <input
            name="name"
            required
            maxLength={100}
            autoComplete="name"
            defaultValue={sender.name ?? me?.operator.handle}
          />
        </label>
        <label>
          Signature <span className="quiet">below the text of each mail; left out: the name</span>
          <textarea
            name="signature"
            maxLength={1_000}
            defaultValue={sender.signature === sender.name ? '' : (sender.signature ?? '')}
          />
        </label>
        <label>
          Where answers go <span className="quiet">left out: to the sender of the mail</span>
          <input name="replyTo" type="email" defaultValue={sender.replyTo ?? ''} />
        </label>
        <label>
          Currency
          <Options
            name="money"
            chosen={currency}
            options={new Set([currency, ...Intl.supportedValuesOf('currency')])}
          />
        </label>
        {save.error && <Failure error={save.error} />}
        <button type="submit" className="primary" disabled={save.isPending}>
          Save
        </button>
      </form>
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
