import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { admin, resume } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Loaded } from '../ui/list.js';
import { textsOf } from '../ui/texts-of.js';
import { tell } from '../ui/told.js';
import { Time } from '../ui/time.js';

/** The codes of an authenticator: set up, shown, removed. As a gate it is all that opens until a code was given. */
export function SecondFactor({ isGate = false }: { isGate?: boolean }) {
  const factor = useQuery({ queryKey: ['second-factor'], queryFn: () => admin.secondFactor.get() });
  return (
    <section aria-label="Second factor">
      {isGate ? <h1>Second factor</h1> : <h2>Second factor</h2>}
      <Loaded query={factor}>
        {({ isSetUp, since, recoveryCodesLeft }) =>
          !isSetUp ? (
            <SetUp isGate={isGate} />
          ) : isGate ? (
            <Prove
              title="Show a code to go on."
              button="Go on"
              act={(body) => admin.secondFactor.verify(body)}
            />
          ) : (
            <>
              <p>
                It is set up{since !== null && ' since '}
                {since !== null && <Time at={since} />}. {recoveryCodesLeft} recovery codes are left.
              </p>
              <ReplaceCodes />
              <Prove
                title="Anybody with your password could sign in without it."
                button="Remove the second factor"
                said="Your second factor is removed: your password alone signs you in."
                act={(body) => admin.secondFactor.remove(body)}
              />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function SetUp({ isGate }: { isGate: boolean }) {
  const queries = useQueryClient();
  const begin = useMutation({ mutationFn: (password: string) => admin.secondFactor.begin({ password }) });
  const confirm = useMutation({ mutationFn: (code: string) => admin.secondFactor.confirm({ code }) });
  if (confirm.data) {
    return (
      <>
        <p>
          Your second factor is set up. Keep these recovery codes apart from your password and your phone:
        </p>
        <pre className="output">{confirm.data.recoveryCodes.join('\n')}</pre>
        <button
          type="button"
          onClick={() => {
            tell('Your second factor is set up.');
            void resume().then(() => queries.invalidateQueries());
          }}
        >
          I have saved them
        </button>
      </>
    );
  }
  if (begin.data) {
    return (
      <Form button="Confirm" act={({ code }) => confirm.mutate(code!)} mutation={confirm}>
        <p>
          Add this key to your authenticator
          {begin.data.uri.startsWith('otpauth://') && (
            <>
              , or <a href={begin.data.uri}>open it on this device</a>
            </>
          )}
          :
        </p>
        <p>
          <code>{begin.data.secret}</code>
        </p>
        <CodeField />
      </Form>
    );
  }
  return (
    <Form button="Set up" act={({ password }) => begin.mutate(password!)} mutation={begin}>
      <p>
        {isGate ? 'Your workspace asks for a second factor.' : 'It is not set up.'} Once it is, a code of an
        authenticator is asked for at each sign-in.
      </p>
      <PasswordField />
    </Form>
  );
}

/** New recovery codes, in place of those that are left. */
function ReplaceCodes() {
  const queries = useQueryClient();
  const replace = useMutation({
    mutationFn: (body: { password: string; code: string }) => admin.secondFactor.replaceRecoveryCodes(body),
  });
  if (replace.data) {
    return (
      <>
        <p>The previous codes no longer work. Keep these apart from your password and your phone:</p>
        <pre className="output">{replace.data.recoveryCodes.join('\n')}</pre>
        <button
          type="button"
          onClick={() => {
            replace.reset();
            tell('Your recovery codes are replaced.');
            void queries.invalidateQueries({ queryKey: ['second-factor'] });
          }}
        >
          I have saved them
        </button>
      </>
    );
  }
  return (
    <details>
      <summary>New recovery codes</summary>
      <Form
        button="Make new recovery codes"
        act={({ password, code }) => replace.mutate({ password: password!, code: code! })}
        mutation={replace}
      >
        <p>They replace your remaining codes.</p>
        <PasswordField />
        <CodeField />
      </Form>
    </details>
  );
}

/** What takes the password and a code. */
function Prove({
  title,
  button,
  said,
  act,
}: {
  title: string;
  button: string;
  /** What has changed, which is told. */
  said?: string;
  act: (body: { password: string; code: string }) => PromiseLike<unknown>;
}) {
  const queries = useQueryClient();
  const prove = useMutation({
    mutationFn: async (body: { password: string; code: string }) => act(body),
    onSuccess: async () => {
      if (said) tell(said);
      await resume();
      await queries.invalidateQueries();
    },
  });
  return (
    <Form
      button={button}
      act={({ password, code }) => prove.mutate({ password: password!, code: code! })}
      mutation={prove}
    >
      <p>{title}</p>
      <PasswordField />
      <CodeField />
    </Form>
  );
}

function Form({
  button,
  act,
  mutation,
  children,
}: {
  button: string;
  act: (texts: Record<string, string>) => void;
  mutation: { error: Error | null; isPending: boolean };
  children: React.ReactNode;
}) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    act(textsOf(event.currentTarget));
  };
  return (
    <form onSubmit={submit}>
      {children}
      {mutation.error && <Failure error={mutation.error} />}
      <button type="submit" disabled={mutation.isPending}>
        {button}
      </button>
    </form>
  );
}

function PasswordField() {
  return (
    <label>
      Your password
      <input name="password" type="password" autoComplete="current-password" required />
    </label>
  );
}

function CodeField() {
  return (
    <label>
      Code from your authenticator
      <input name="code" autoComplete="one-time-code" required />
    </label>
  );
}
