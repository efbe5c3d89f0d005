import type { GuardianView } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Csv } from '../ui/csv.js';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { KeptForm } from '../ui/kept-form.js';
import { Loaded, Rows } from '../ui/list.js';
import { Time } from '../ui/time.js';
import { textsOf } from '../ui/texts-of.js';
import { Held } from './held-checkpoint.js';
import { Revert } from './revert.js';

const MODES = {
  observe: 'Nothing leaves.',
  supervised: 'A person approves everything that leaves.',
  guardrailed: 'Standing orders decide; a person approves the rest.',
  autonomous: 'What can be taken back leaves by itself.',
} as const;
type Mode = keyof typeof MODES;

/** How much leaves by itself, the points to go back to, and the way back. */
export function GuardianPage() {
  const guardian = useQuery({ queryKey: ['guardian'], queryFn: () => client.guardian.get() });
  return (
    <div className="page">
      <h1>Safety</h1>
      <Loaded query={guardian}>
        {(data) => (
          <>
            <Modes guardian={data} />
            <Checkpoints />
            <Revert guardian={data} />
          </>
        )}
      </Loaded>
    </div>
  );
}

function Modes({ guardian: { mode, blocked24h } }: { guardian: GuardianView }) {
  const queries = useQueryClient();
  const mayChange = mayAct(useMe(), 'admin') && mode in MODES;
  const [next, setNext] = useState<Mode>();
  const change = useMutation({
    mutationFn: (to: Mode) => client.guardian.setMode({ mode: to }),
    onSuccess: () => {
      setNext(undefined);
      void queries.invalidateQueries({ queryKey: ['me'] });
      return queries.invalidateQueries({ queryKey: ['guardian'] });
    },
  });
  return (
    <section aria-label="Mode">
      <h2>Mode: {mode}</h2>
      <p>{MODES[mode as Mode] ?? 'Everything is stopped.'}</p>
      <p className="quiet">{blocked24h} denied in the last 24 hours.</p>
      {mayChange && (
        <div className="row">
          {(Object.keys(MODES) as Mode[])
            .filter((one) => one !== mode)
            .map((one) => (
              <button key={one} type="button" onClick={() => setNext(one)}>
                Change to {one}
              </button>
            ))}
        </div>
      )}
      {next && (
        <Dialog
          title={`Change to ${next}`}
          description={MODES[next]}
          isOpen
          setOpen={() => setNext(undefined)}
        >
          {change.error && <Failure error={change.error} />}
          <div className="row">
            <button
              type="button"
              className="primary"
              disabled={change.isPending}
              onClick={() => change.mutate(next)}
            >
              Change to {next}
            </button>
            <button type="button" onClick={() => setNext(undefined)}>
              Back
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function Checkpoints() {
  const queries = useQueryClient();
  const me = useMe();
  const checkpoints = useQuery({
    queryKey: ['guardian', 'checkpoints'],
    queryFn: () => client.checkpoints.list({ limit: 20 }),
  });
  const take = useMutation({
    mutationFn: (label: string) => client.checkpoints.create(label ? { label } : {}),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['guardian', 'checkpoints'] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    take.mutate(textsOf(form)['label']!.trim(), { onSuccess: () => form.reset() });
  };
  return (
    <section aria-label="Checkpoints">
      <h2>Checkpoints</h2>
      <p className="quiet">
        A checkpoint keeps the mode, the settings and the standing orders, to go back to.
      </p>
      {mayAct(me, 'operator') && (
        <KeptForm about="checkpoint" onSubmit={submit}>
          <label>
            What it is for
            <input name="label" maxLength={120} />
          </label>
          {take.error && <Failure error={take.error} />}
          <button type="submit" disabled={take.isPending}>
            Take a checkpoint
          </button>
        </KeptForm>
      )}
      <Loaded query={checkpoints}>
        {({ items }) => (
          <Rows items={items} empty="None yet. One is taken by itself before the kill switch is engaged.">
            {({ checkpointId, label, createdAt, createdBy, auto }) => (
              <li key={checkpointId}>
                <span className="title">{label ?? 'Checkpoint'}</span>
                <span className="facts">
                  <Time at={createdAt} />
                  <span>{createdBy.name}</span>
                  {auto && <span>taken by itself</span>}
                </span>
                <Held checkpointId={checkpointId} of={label ?? 'the checkpoint'} />
              </li>
            )}
          </Rows>
        )}
      </Loaded>
      <Csv
        name="checkpoints"
        total={checkpoints.data?.total}
        list={(page) => client.checkpoints.list(page)}
      />
    </section>
  );
}
