import { APIError } from '@consigliere/sdk';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { signIn } from './session.js';
import { Failure } from './ui/failure.js';
import { textsOf } from './ui/texts-of.js';

/** The page of a person who has to sign in, for the first time or again. */
export function SignIn({ email }: { email?: string }) {
  const attempt = useMutation({ mutationFn: signIn });
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
    <main className="narrow">
      <h1>{email ? 'Signed out' : 'Consigliere'}</h1>
      {email && <p>Sign in to go on. What you typed is still there.</p>}
      <form onSubmit={submit}>
        <label>
          Mail address
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
            Code of your second factor
            <input name="code" inputMode="numeric" autoComplete="one-time-code" required autoFocus />
          </label>
        )}
        {attempt.error && !wantsCode && <Failure error={attempt.error} />}
        <button type="submit" className="primary" disabled={attempt.isPending}>
          Sign in
        </button>
      </form>
    </main>
  );
}
