import type { CreateTokenBody } from '@consigliere/sdk';
import { admin } from '../session.js';
import { Field, Form } from '../ui/form.js';
import { useTyped } from '../ui/typed.js';
import type { Shown } from './shown-token.js';

const SCOPES = {
  read: 'Read',
  operate: 'Hand in and run work',
  decide: 'Approve, reject and answer',
  request: 'Ask for actions',
  admin: 'Change the workspace',
} as const;
type Scope = keyof typeof SCOPES;
const DAY_MS = 86_400_000;

/** A token for a program, with the rights that it needs, or for an agent, which can only ask. */
export function NewTokenForm({ onMade }: { onMade: (shown: Shown) => void }) {
  const { typed, type } = useTyped('token-kind');
  const isAgent = !!typed['agent'];
  const make = ({ name, agent, tools, days }: Record<string, string>, data: FormData) => {
    const scopes = data.getAll('scope') as Scope[];
    const body: CreateTokenBody = {
      name: name!,
      ...(days && { expiresAt: Date.now() + Number(days) * DAY_MS }),
      ...(isAgent
        ? { agent: { name: agent! }, tools: tools!.split(/[\s,]+/).filter(Boolean) }
        : { scopes: scopes.length > 0 ? scopes : null }),
    };
    return admin.tokens.create(body);
  };
  return (
    <>
      <h2>Make a token</h2>
      <Form
        about="token"
        verb="Make the token"
        act={make}
        stale={['tokens']}
        onDone={({ token, agent }) => onMade({ token, isAgent: agent !== null })}
      >
        <Field label="Name of the token">
          <input name="name" required maxLength={100} />
        </Field>
        <label className="check">
          <input
            type="checkbox"
            checked={isAgent}
            onChange={({ target }) => type('agent', target.checked ? 'yes' : '')}
          />
          For an agent, which asks before it acts and can do nothing else
        </label>
        {isAgent ? (
          <>
            <Field label="Name of the agent" hint="people see it wherever the agent asks">
              <input name="agent" required maxLength={60} />
            </Field>
            <Field label="Its tools" hint="names, or groups such as crm.*">
              <input name="tools" required />
            </Field>
          </>
        ) : (
          <fieldset>
            <legend>Rights (if none is chosen: all of yours)</legend>
            {(Object.keys(SCOPES) as Scope[]).map((scope) => (
              <label key={scope} className="check">
                <input type="checkbox" name="scope" value={scope} />
                {SCOPES[scope]}
              </label>
            ))}
          </fieldset>
        )}
        <Field label="Expires after days" hint="if empty: never">
          <input name="days" type="number" min={1} max={3650} />
        </Field>
      </Form>
    </>
  );
}
