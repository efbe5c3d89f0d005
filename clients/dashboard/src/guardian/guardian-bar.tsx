import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useHeld } from '../held.js';
import { mayAct, mayActSomewhere, useMe, useMeQuery } from '../me.js';
import { client, useWorkspaces } from '../session.js';
import { Failure } from '../ui/failure.js';
import { useRepeat } from '../ui/form.js';
import { ReasonDialog } from '../ui/reason-dialog.js';
import { Time } from '../ui/time.js';
import { modeInWords } from './modes.js';
import { useHold } from './use-hold.js';

/** The mode, who is there and the kill switch, in every view; while it is engaged, who did it and why. */
export function GuardianBar() {
  const mode = useMe()?.guardian.mode;
  return (
    <>
      {mode && (
        <Link to="/guardian" className="mode" aria-label={`${modeInWords(mode)}: the mode is ${mode}`}>
          {modeInWords(mode)}
        </Link>
      )}
      <Presence />
      {mode === 'killed' ? <Halted /> : <KillSwitch />}
    </>
  );
}

/** Asked for only while it is so: a day has few requests on some tiers. */
function Halted() {
  const guardian = useQuery({ queryKey: ['guardian'], queryFn: () => client.guardian.get() });
  const mayEnd = mayAct(useMe(), 'admin');
  const { name } = useWorkspaces();
  const { killedBy, killedAt, reason } = guardian.data ?? {};
  return (
    <div className="halted">
      <p role="alert">
        {name}: everything is stopped
        {killedBy && `: ${killedBy.name} engaged the kill switch`} {killedAt && <Time at={killedAt} />}
        {reason && `: ${reason}`}. {!mayEnd && 'Only an admin can end the stop.'}
      </p>
      {mayEnd && (
        <Link to="/guardian" hash="revert" className="button">
          End the stop
        </Link>
      )}
    </div>
  );
}

const PRESENCES = ['present', 'away'] as const;

/** A fact that standing orders can ask for: some hold only while nobody is there. */
function Presence() {
  const queries = useQueryClient();
  const me = useMe();
  const change = useMutation({
    mutationFn: (presence: (typeof PRESENCES)[number]) => client.settings.update({ presence }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['me'] }),
  });
  if (!me) return null;
  const { presence } = me.workspace;
  if (!mayAct(me, 'admin')) return <span className="mode">{presence}</span>;
  return (
    <>
      <span className="presence" role="group" aria-label="Presence">
        {PRESENCES.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={presence === one}
            disabled={change.isPending}
            onClick={() => presence !== one && change.mutate(one)}
          >
            {one}
          </button>
        ))}
      </span>
      {change.error && <Failure error={change.error} />}
    </>
  );
}

/** Held for a second by a finger, or confirmed by a typed word. */
function KillSwitch() {
  const queries = useQueryClient();
  const { data: me, isError } = useMeQuery();
  const isHeldBack = useHeld() !== undefined;
  // A stop is never held back, and the service knows who may.
  const maySwitch = me ? mayActSomewhere(me, 'operator') : isHeldBack || isError;
  const [isOpen, setOpen] = useState(false);
  const onDone = () => queries.invalidateQueries({ queryKey: ['me'] });
  const kill = useMutation({ mutationFn: () => client.guardian.kill({}), onSuccess: onDone });
  useRepeat(kill, true);
  const { name, others } = useWorkspaces();
  const elsewhere = others.length > 0 ? ' Your other workspaces go on.' : '';
  const { isHeld, ...hold } = useHold(kill.mutate, () => setOpen(true));
  if (!maySwitch) return null;
  return (
    <>
      <button
        type="button"
        className={isHeld ? 'danger held' : 'danger'}
        disabled={kill.isPending}
        title="Everybody who may hand in work may stop everything"
        {...hold}
      >
        {isHeld ? 'Keep holding' : 'Stop'}
        {!isHeld && <span className="unseen"> everything</span>}
      </button>
      {kill.error && <Failure error={kill.error} isRepeated />}
      <ReasonDialog
        about="stop"
        title={`Stop everything in ${name}`}
        description={`In ${name} nothing is sent until an admin ends the stop. Everybody who may hand in work, be it in one team, may stop everything. What is on its way may still arrive. On a touch screen, holding Stop for a second does the same.${elsewhere}`}
        verb="Stop everything"
        word="HALT"
        isRepeated
        isOpen={isOpen}
        setOpen={setOpen}
        act={(reason) => client.guardian.kill(reason ? { reason } : {})}
        onDone={onDone}
      />
    </>
  );
}
