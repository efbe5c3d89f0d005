import { useState } from 'react';
import { client } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { Form } from '../ui/form.js';

const EFFECTS = { require_approval: 'Always ask before it is done', deny: 'Never do it' } as const;
const ACTIONS = {
  'email.send': 'Sending mail',
  'webhook.post': 'Posting to a webhook',
  'http.call': 'Calling another service',
  'revenue.record': 'Recording revenue',
} as const;

/** A standing order that only tightens, so it applies at once. */
export function FirstOrder() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Make a standing order
      </button>
      <Dialog
        title="Make a standing order"
        description="It applies at once to the work of all capos, the built-in assistants. Orders that allow something are made on the page Standing orders."
        isOpen={isOpen}
        setOpen={setOpen}
      >
        <Form
          about="first order"
          verb="Make it"
          act={(texts) => {
            const { effect, action } = texts as {
              effect: keyof typeof EFFECTS;
              action: keyof typeof ACTIONS;
            };
            return client.standingOrders.create({
              name: `${ACTIONS[action]}: ${EFFECTS[effect]}`,
              effect,
              match: { actionTypes: [action] },
            });
          }}
          stale={['setup']}
          onDone={() => setOpen(false)}
          onBack={() => setOpen(false)}
        >
          <Choice name="action" label="What it is about" options={ACTIONS} />
          <Choice name="effect" label="What it says" options={EFFECTS} />
        </Form>
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
