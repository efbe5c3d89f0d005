import type { SettingsView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { client } from '../session.js';
import { Field, Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';

/** How much models may use on one day, and what they have cost. */
export function ModelBudget() {
  const settings = useQuery({ queryKey: ['settings'], queryFn: () => client.settings.get() });
  const metrics = useQuery({ queryKey: ['figures', 'metrics'], queryFn: () => client.metrics.get() });
  return (
    <section aria-label="Model budget">
      <h2>Model budget</h2>
      <Loaded query={metrics}>
        {({ cost: { currency, h24, d7, d30 } }) => (
          <p>
            Models have cost {moneyOf(h24, currency)} in the last 24 hours, {moneyOf(d7, currency)} in 7 days
            and {moneyOf(d30, currency)} in 30.
          </p>
        )}
      </Loaded>
      <Loaded query={settings}>
        {({ modelBudget }) => <Limits key={JSON.stringify(modelBudget)} budget={modelBudget} />}
      </Loaded>
    </section>
  );
}

function Limits({ budget }: { budget: SettingsView['modelBudget'] }) {
  return (
    <>
      <p className="quiet">
        {budget
          ? 'Once a day’s budget is used up, drafts wait for the next day.'
          : 'None is set: what the tier has holds for each day. Once it is used up, drafts wait for the next day.'}
      </p>
      <Form
        about="model budget"
        verb="Save the model budget"
        act={({ amount, tokens }) =>
          client.settings.update({
            modelBudget:
              amount || tokens
                ? { amount: amount ? Number(amount) : null, tokens: tokens ? Number(tokens) : null }
                : null,
          })
        }
        stale={['settings', 'figures']}
        says={({ modelBudget }) =>
          modelBudget
            ? 'The model budget is saved.'
            : 'The model budget is removed. The limit of your tier applies.'
        }
      >
        <Field
          label="US dollars a day"
          hint="where the prices of the model are known; empty: what the tier has"
        >
          <input
            name="amount"
            type="number"
            min={0}
            max={1_000_000}
            step="any"
            defaultValue={budget?.amount ?? ''}
          />
        </Field>
        <Field label="Tokens a day" hint="where they are not known; 0 stops every call">
          <input name="tokens" type="number" min={0} step={1} defaultValue={budget?.tokens ?? ''} />
        </Field>
      </Form>
    </>
  );
}

const moneyOf = (amount: number, currency: string) =>
  amount.toLocaleString(undefined, { style: 'currency', currency });
