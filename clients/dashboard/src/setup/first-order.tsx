import type { CreateStandingOrderBody } from '@consigliere/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { client } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { textsOf } from '../ui/texts-of.js';

const EFFECTS = { require_approval: 'Always ask before it is done', deny: 'Never do it' } as const;
const ACTIONS = {
  'email.send': 'Sending mail',
  'webhook.post': 'Posting to a webhook',
  'http.call': 'Calling another service',
  'revenue.record': 'Recording revenue',
} as const;

/** A standing order that only tightens, so it applies at once. */
export function FirstOrder() {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const create = useMutation({
    mutationFn: (body: CreateStandingOrderBody) => client.standingOrders.create(body),
    onSuccess: () => {
      setOpen(false);
      return queries.invalidateQueries({ queryKey: ['setup'] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { effect, action } = textsOf(event.currentTarget) as {
      effect: keyof typeof EFFECTS;
      action: keyof typeof ACTIONS;
    };
    create.mutate({
      name: `${ACTIONS[action]}: ${EFFECTS[effect]}`,
      effect,
      match: { actionTypes: [action] },
    });
  };
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Make a standing order
      </button>
      <Dialog
        title="Make a standing order"
        description="It is about work of all capos, and applies at once. Orders that allow are made on the page Standing orders."
        isOpen={isOpen}
        setOpen={setOpen}
      >
        <form onSubmit={submit}>
          <Choice name="action" label="What it is about" options={ACTIONS} />
          <Choice name="effect" label="What it says" options={EFFECTS} />
          {create.error && <Failure error={create.error} />}
          <div className="row">
            <button type="submit" className="primary" disabled={create.isPending}>
              Make it
            </button>
            <button type="button" onClick={() => setOpen(false)}>
              Back
            </button>
          </div>
        </form>
      </Dialog>
    </>
  );
}

function Choice({
  name,
  label,
  options,
}: {
  name: string;
  label: string;
  options: Readonly<Record<string, string>>;
}) {
  return (
    <label>
      {label}
      <select name={name}>
        {Object.entries(options).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
