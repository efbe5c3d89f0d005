import type { ChangeNotificationChoices, NotificationChoicesView } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Loaded } from '../ui/list.js';
import { textsOf } from '../ui/texts-of.js';

const WORDS = { all: 'All', urgent: 'Only what is urgent', digest: 'Once a day', none: 'None' } as const;
const KINDS = {
  approvals: ['What waits for your decision', ['all', 'urgent', 'digest', 'none']],
  escalations: ['Escalations', ['all', 'urgent', 'digest', 'none']],
  reports: ['Daily Report', ['all', 'none']],
} as const;
type Kind = keyof typeof KINDS;

/** What one is mailed, and when. */
export function MailChoices() {
  const choices = useQuery({ queryKey: ['mail-choices'], queryFn: () => client.notifications.get() });
  return (
    <section aria-label="Mail">
      <h2>Mail</h2>
      <Loaded query={choices}>{(data) => <Form choices={data} />}</Loaded>
    </section>
  );
}

function Form({ choices: { address, timezone, effective } }: { choices: NotificationChoicesView }) {
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: (body: ChangeNotificationChoices) => client.notifications.update(body),
    onSuccess: (saved) => queries.setQueryData(['mail-choices'], saved),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { from, to, ...kinds } = textsOf(event.currentTarget);
    save.mutate({
      ...(kinds as Pick<ChangeNotificationChoices, Kind>),
      ...(from && to
        ? { quietHours: { from, to }, atAnyHour: false }
        : effective.quietHours && { atAnyHour: true }),
    });
  };
  return (
    <form onSubmit={submit}>
      <p>{address === null ? 'Nobody receives mail at your address.' : `Mails go to ${address}.`}</p>
      {(Object.keys(KINDS) as Kind[]).map((kind) => (
        <label key={kind}>
          {KINDS[kind][0]}
          <select name={kind} defaultValue={effective[kind]}>
            {KINDS[kind][1].map((choice) => (
              <option key={choice} value={choice}>
                {WORDS[choice]}
              </option>
            ))}
          </select>
        </label>
      ))}
      <fieldset>
        <legend>Quiet hours: of approvals and escalations only what is urgent is mailed ({timezone})</legend>
        <label>
          From
          <input name="from" type="time" defaultValue={effective.quietHours?.from} />
        </label>
        <label>
          Until
          <input name="to" type="time" defaultValue={effective.quietHours?.to} />
        </label>
      </fieldset>
      {save.error && <Failure error={save.error} />}
      {save.isSuccess && <p role="status">Saved.</p>}
      <button type="submit" disabled={save.isPending}>
        Save what is mailed
      </button>
    </form>
  );
}
