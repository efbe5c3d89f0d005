import type { GuardianView } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { Field, Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { Held } from './held-checkpoint.js';
import { Revert } from './revert.js';

const MODES = {
  observe: 'Nothing leaves.',
  supervised: 'A person approves everything that leaves.',
  guardrailed: 'Standing orders decide; a person approves the rest.',
  autonomous: 'What can be undone leaves without asking.',
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
            <Revert guardian={data} />
            <Checkpoints />
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
      <p className="quiet">{blocked24h} actions were denied in the last 24 hours.</p>
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
  const me = useMe();
  return (
    <section aria-label="Checkpoints">
      <h2>Checkpoints</h2>
      <p className="quiet">
        A checkpoint keeps the mode, the settings and the standing orders, to go back to.
      </p>
      {mayAct(me, 'operator') && (
        <Form
          about="checkpoint"
          verb="Take a checkpoint"
          act={({ label }) => client.checkpoints.create(label!.trim() ? { label: label!.trim() } : {})}
          stale={['guardian']}
        >
          <Field label="What it is for">
            <input name="label" maxLength={120} />
          </Field>
        </Form>
      )}
      <Listing
        queryKey={['guardian', 'checkpoints']}
        name="checkpoints"
        list={(page) => client.checkpoints.list(page)}
        empty="None yet. One is taken automatically before the kill switch is engaged."
      >
        {({ checkpointId, label, createdAt, createdBy, auto }) => (
          <li key={checkpointId}>
            <span className="title">{label ?? 'Checkpoint'}</span>
            <span className="facts">
              <Time at={createdAt} />
              <span>{createdBy.name}</span>
              {auto && <span>taken automatically</span>}
            </span>
            <Held checkpointId={checkpointId} of={label ?? 'the checkpoint'} />
          </li>
        )}
      </Listing>
    </section>
  );
}
