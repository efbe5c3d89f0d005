import type { CreateTokenBody } from '@consigliere/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { admin } from '../session.js';
import { Failure } from '../ui/failure.js';
import { KeptForm } from '../ui/kept-form.js';
import { textsOf } from '../ui/texts-of.js';
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
  const queries = useQueryClient();
  const { typed, type } = useTyped('token-kind');
  const isAgent = !!typed['agent'];
  const make = useMutation({
    mutationFn: (body: CreateTokenBody) => admin.tokens.create(body),
    onSuccess: ({ token, agent }) => {
      onMade({ token, isAgent: agent !== null });
      return queries.invalidateQueries({ queryKey: ['tokens'] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const { name, agent, tools, days } = textsOf(form);
    const scopes = new FormData(form).getAll('scope') as Scope[];
    make.mutate(
      {
        name: name!,
        ...(days && { expiresAt: Date.now() + Number(days) * DAY_MS }),
        ...(isAgent
          ? { agent: { name: agent! }, tools: tools!.split(/[\s,]+/).filter(Boolean) }
          : { scopes: scopes.length > 0 ? scopes : null }),
      },
      { onSuccess: () => form.reset() },
    );
  };
  return (
    <KeptForm about="token" onSubmit={submit}>
      <h2>Make a token</h2>
      <label>
        Name of the token
        <input name="name" required maxLength={100} />
      </label>
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
          <label>
            Name of the agent <span className="quiet">as people read it wherever it asks</span>
            <input name="agent" required maxLength={60} />
          </label>
          <label>
            Its tools <span className="quiet">names, or groups such as crm.*</span>
            <input name="tools" required />
          </label>
        </>
      ) : (
        <fieldset>
          <legend>Rights (none chosen: all of yours)</legend>
          {(Object.keys(SCOPES) as Scope[]).map((scope) => (
            <label key={scope} className="check">
              <input type="checkbox" name="scope" value={scope} />
              {SCOPES[scope]}
            </label>
          ))}
        </fieldset>
      )}
      <label>
        Ends after days <span className="quiet">left out: never</span>
        <input name="days" type="number" min={1} max={3650} />
      </label>
      {make.error && <Failure error={make.error} />}
      <button type="submit" className="primary" disabled={make.isPending}>
        Make the token
      </button>
    </KeptForm>
  );
}
