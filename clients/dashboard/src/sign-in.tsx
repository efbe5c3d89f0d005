import { APIError } from '@consigliere/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { admin, signIn } from './session.js';
import { Failure } from './ui/failure.js';
import { textsOf } from './ui/texts-of.js';

/** The page of a person who has to sign in, for the first time or again. */
export function SignIn({ email }: { email?: string }) {
  const [isForgotten, setForgotten] = useState(false);
  return (
    <main className="narrow">
      <h1>{isForgotten ? 'Reset your password' : email ? 'Signed out' : 'Consigliere'}</h1>
      {isForgotten ? <Forgotten email={email} /> : <Credentials email={email} />}
      <button type="button" onClick={() => setForgotten(!isForgotten)}>
        {isForgotten ? 'Back to sign in' : 'I forgot my password'}
      </button>
    </main>
  );
}

function Credentials({ email }: { email: string | undefined }) {
  const attempt = useMutation({ mutationFn: signIn });
  const oidc = useQuery({ queryKey: ['oidc'], queryFn: () => admin.oidc.get(), staleTime: Infinity });
  const wantsCode = attempt.error instanceof APIError && attempt.error.reason === 'second_factor_required';
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { email: address, password, code } = textsOf(event.currentTarget);
    attempt.mutate({
      email: address!,
      password: password!,
      ...(code && { code }),
    });
  };
  return (
    <>
      {email && <p>Sign in to go on. What you typed is still there.</p>}
      <form onSubmit={submit}>
        <label>
          Email address
          <input
            name="email"
            type="email"
            autoComplete="username"
            required
            defaultValue={email}
            autoFocus={!email}
          />
        </label>
        <label>
          Password
          <input
            name="password"
            type="password"
            autoComplete="current-password"
            required
            autoFocus={!!email}
          />
        </label>
        {wantsCode && (
          <label>
            Code from your authenticator
            <input name="code" autoComplete="one-time-code" required autoFocus />
          </label>
        )}
        {attempt.error && !wantsCode && <Failure error={attempt.error} />}
        <div className="row">
          <button type="submit" className="primary" disabled={attempt.isPending}>
            Sign in
          </button>
          {oidc.data?.startPath && (
            <a className="button" href={startOf(oidc.data.startPath)}>
              Sign in with {oidc.data.name}
            </a>
          )}
        </div>
      </form>
    </>
  );
}

/** Asks for a mail with a link. The answer is the same whether there is an account or not. */
function Forgotten({ email }: { email: string | undefined }) {
  const request = useMutation({
    mutationFn: (address: string) => admin.password.requestReset({ email: address }),
  });
  if (request.isSuccess) {
    return <p role="status">If there is an account with this address, a link is on its way to it by mail.</p>;
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    request.mutate(textsOf(event.currentTarget)['email']!);
  };
  return (
    <form onSubmit={submit}>
      <label>
        Email address
        <input name="email" type="email" autoComplete="username" required defaultValue={email} autoFocus />
      </label>
      {request.error && <Failure error={request.error} />}
      <div className="row">
        <button type="submit" className="primary" disabled={request.isPending}>
          Mail me a link
        </button>
      </div>
    </form>
  );
}

/** The way to the provider and back to this page. */
function startOf(startPath: string): string {
  return `${startPath}?${new URLSearchParams({ returnTo: location.pathname + location.search }).toString()}`;
}
