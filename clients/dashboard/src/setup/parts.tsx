import type { SetupFinding, SetupView } from '@consigliere/sdk';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Field, Form } from '../ui/form.js';
import { Workspace } from './workspace.js';

/** The owner's address, the settings of the workspace, and the parts of the service with their tests. */
export function Parts({ setup: { address, mail, model, isReachable } }: { setup: SetupView }) {
  return (
    <>
      {!isReachable && <Unreachable />}
      <Workspace />
      <Part title="Address" configured={address}>
        <p>
          This page is open at <code>{location.origin}</code>.
        </p>
      </Part>
      <Part title="Mail" configured={mail} verb="Send me a test mail" test={() => client.setup.testMail()} />
      <Part title="Model" configured={model} verb="Test the model" test={() => client.setup.testModel()} />
    </>
  );
}

/** Nobody is mailed at the address of a new installation, and an account keeps its address: another owner takes over. */
function Unreachable() {
  const me = useMe();
  const [invited, setInvited] = useState<string>();
  return (
    <section aria-label="Your address" className="changed">
      <p>
        You are signed in as {me?.operator.email}. Nobody receives mail at this address, so nothing that waits
        for you is mailed to you.
      </p>
      {invited ? (
        <p role="status">
          {invited} is invited as owner. Open the link in that mail, and sign in with that address from then
          on. While mail is written to files, the link is in the newest file of DATA_DIR/outbox.
        </p>
      ) : (
        mayAct(me, 'owner') && (
          <Form
            about="own address"
            verb="Invite me as owner"
            act={({ email }) => client.members.invite({ email: email!, role: 'owner' })}
            stale={['member', 'invite']}
            onDone={({ email }) => setInvited(email)}
          >
            <Field label="Your own email address">
              <input name="email" type="email" autoComplete="email" required />
            </Field>
          </Form>
        )
      )}
    </section>
  );
}

/** A part of the service as it is configured, and what its test found. */
function Part({
  title,
  configured,
  verb,
  test,
  children,
}: {
  title: string;
  configured: SetupFinding;
  verb?: string;
  test?: () => PromiseLike<SetupFinding>;
  children?: ReactNode;
}) {
  const testing = useMutation({ mutationFn: async () => test!() });
  const { works, found, remedy } = testing.data ?? configured;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <p role="status" className={works ? undefined : 'warning'}>
        {testing.data && (works ? 'It works. ' : 'It does not work. ')}
        {found}
      </p>
      {children}
      {remedy !== null && (
        <details open={!works}>
          <summary>
            To change it, add these lines to .env with your own values, and restart the service
          </summary>
          <pre className="output">{remedy}</pre>
        </details>
      )}
      {testing.error && <Failure error={testing.error} />}
      {test && (
        <button type="button" disabled={testing.isPending} onClick={() => testing.mutate()}>
          {verb}
        </button>
      )}
    </section>
  );
}
