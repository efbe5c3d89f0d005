import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useHeld } from '../held.js';
import { mayActSomewhere, useMe } from '../me.js';
import { client } from '../session.js';
import { ReasonDialog } from '../ui/reason-dialog.js';
import { Time } from '../ui/time.js';

/** The kill switch, in every view; while it is engaged, who did it and why. */
export function GuardianBar() {
  const mode = useMe()?.guardian.mode;
  const guardian = useQuery({
    queryKey: ['guardian'],
    queryFn: () => client.guardian.get(),
    // Who and why is asked for only while it is so: a day has few requests on some tiers.
    enabled: mode === 'killed',
  });
  if (mode !== 'killed') return <KillSwitch mode={mode} />;
  if (!guardian.data) return <p className="halted">Everything is stopped.</p>;
  const { killedBy, killedAt, reason } = guardian.data;
  return (
    <p className="halted" role="alert">
      Everything is stopped: {killedBy?.name} engaged the kill switch{' '}
      {killedAt !== null && <Time at={killedAt} />}
      {reason && `: ${reason}`}. <Link to="/guardian">An admin ends it with a revert.</Link>
    </p>
  );
}

function KillSwitch({ mode }: { mode: string | undefined }) {
  const queries = useQueryClient();
  const me = useMe();
  const isHeld = useHeld() !== undefined;
  // A stop is never held back, and the service knows who may.
  const maySwitch = me ? mayActSomewhere(me, 'operator') : isHeld;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <span className="mode">{mode}</span>
      {maySwitch && (
        <button type="button" className="danger" onClick={() => setOpen(true)}>
          Stop everything
        </button>
      )}
      <ReasonDialog
        title="Stop everything"
        description="Nothing is sent any more until an admin ends it. What is on its way may still arrive."
        verb="Stop everything"
        word="HALT"
        isOpen={isOpen}
        setOpen={setOpen}
        act={(reason) => client.guardian.kill(reason ? { reason } : {})}
        onDone={() => queries.invalidateQueries({ queryKey: ['me'] })}
      />
    </>
  );
}
