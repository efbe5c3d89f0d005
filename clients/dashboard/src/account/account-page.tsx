import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { admin, client, resume } from '../session.js';
import { type Appearance, appearance, APPEARANCES, choose } from '../ui/appearance.js';
import { Csv, onePage } from '../ui/csv.js';
import { Failure } from '../ui/failure.js';
import { Loaded, Rows } from '../ui/list.js';
import { textsOf } from '../ui/texts-of.js';
import { Time } from '../ui/time.js';
import { OwnSessions } from '../people/sessions.js';
import { MailChoices } from './mail-choices.js';
import { SecondFactor } from './second-factor.js';

/** One's own account: the password, the second factor, and where one is signed in. */
export function AccountPage() {
  return (
    <div className="page">
      <h1>Your account</h1>
      <ChangePassword />
      <SecondFactor />
      <MailChoices />
      <OwnSessions />
      <Devices />
      <Look />
    </div>
  );
}

function ChangePassword() {
  const change = useMutation({
    mutationFn: (body: { currentPassword: string; newPassword: string }) => admin.password.change(body),
    // The session goes on under another token against forged requests.
    onSuccess: () => resume(),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const { currentPassword, newPassword } = textsOf(form);
    change.mutate(
      { currentPassword: currentPassword!, newPassword: newPassword! },
      { onSuccess: () => form.reset() },
    );
  };
  return (
    <section aria-label="Password">
      <h2>Password</h2>
      <form onSubmit={submit}>
        <label>
          Current password
          <input name="currentPassword" type="password" autoComplete="current-password" required />
        </label>
        <label>
          New password, 10 characters or more
          <input
            name="newPassword"
            type="password"
            autoComplete="new-password"
            required
            minLength={10}
            maxLength={200}
          />
        </label>
        {change.error && <Failure error={change.error} />}
        {change.isSuccess && <p role="status">Your password is changed.</p>}
        <button type="submit" disabled={change.isPending}>
          Change the password
        </button>
      </form>
    </section>
  );
}

/** The programs of one's own, such as an app on a phone, that fetched what they need. */
function Devices() {
  const profile = useQuery({ queryKey: ['profile'], queryFn: () => client.profile.get() });
  return (
    <section aria-label="Devices">
      <h2>Your devices</h2>
      <Loaded query={profile}>
        {({ devices }) => (
          <>
            <Rows
              items={devices}
              empty="None. A program that works while it is offline shows here once it has fetched what it needs."
            >
              {({ deviceId, firstSeenAt, lastSeenAt }) => (
                <li key={deviceId}>
                  <span className="title">{deviceId}</span>
                  <span className="facts">
                    <span>
                      here last <Time at={lastSeenAt} />
                    </span>
                    <span>
                      for the first time <Time at={firstSeenAt} />
                    </span>
                  </span>
                </li>
              )}
            </Rows>
            {devices.length > 0 && (
              <>
                <p className="quiet">
                  A device works with a token or a session: end that one to lock it out.
                </p>
                <Csv name="devices" total={devices.length} list={() => onePage(devices)} />
              </>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Look() {
  const [chosen, setChosen] = useState(appearance);
  return (
    <section aria-label="Appearance">
      <h2>Appearance</h2>
      <label>
        Colours in this browser
        <select
          value={chosen}
          onChange={({ target }) => {
            choose(target.value as Appearance);
            setChosen(appearance());
          }}
        >
          {APPEARANCES.map((one) => (
            <option key={one} value={one}>
              {one === 'system' ? 'as the system has them' : one}
            </option>
          ))}
        </select>
      </label>
    </section>
  );
}
