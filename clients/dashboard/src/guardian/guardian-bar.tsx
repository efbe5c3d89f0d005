import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { mayActSomewhere, useMe } from '../me.js';
import { client } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { textsOf } from '../ui/texts-of.js';
import { Time } from '../ui/time.js';

const WORD = 'HALT';

/** The kill switch, in every view; while it is engaged, who did it and why. */
export function GuardianBar() {
  const guardian = useQuery({ queryKey: ['guardian'], queryFn: () => client.guardian.get() });
  if (!guardian.data) return null;
  const { mode, killedBy, killedAt, reason } = guardian.data;
  if (mode !== 'killed') return <KillSwitch mode={mode} />;
  return (
    <p className="halted" role="alert">
      Everything is stopped: {killedBy?.name} engaged the kill switch{' '}
      {killedAt !== null && <Time at={killedAt} />}
      {reason && `: ${reason}`}. <Link to="/guardian">An admin ends it with a revert.</Link>
    </p>
  );
}

function KillSwitch({ mode }: { mode: string }) {
  const queries = useQueryClient();
  const me = useMe();
  const maySwitch = mayActSomewhere(me, 'operator');
  const [isOpen, setOpen] = useState(false);
  const kill = useMutation({
    mutationFn: (reason: string) => client.guardian.kill(reason ? { reason } : {}),
    onSuccess: () => {
      setOpen(false);
      return queries.invalidateQueries({ queryKey: ['guardian'] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    kill.mutate(textsOf(event.currentTarget).reason!);
  };
  return (
    <>
      <span className="mode">{mode}</span>
      {maySwitch && (
        <button type="button" className="danger" onClick={() => setOpen(true)}>
          Stop everything
        </button>
      )}
      <Dialog
        title="Stop everything"
        description="Nothing is sent any more until an admin ends it. What is on its way may still arrive."
        isOpen={isOpen}
        setOpen={setOpen}
      >
        <form onSubmit={submit}>
          <label>
            Why
            <input name="reason" maxLength={500} />
          </label>
          <label>
            Type {WORD}
            <input name="word" required pattern={WORD} autoComplete="off" title={`Type ${WORD}`} />
          </label>
          {kill.error && <Failure error={kill.error} />}
          <div className="row">
            <button type="submit" className="danger" disabled={kill.isPending}>
              Stop everything
            </button>
            <button type="button" onClick={() => setOpen(false)}>
              Back
            </button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
