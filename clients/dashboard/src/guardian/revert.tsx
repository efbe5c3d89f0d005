import type { GuardianView, RevertAnswer, RevertBody } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Loaded, More, Rows } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { readAll } from '../ui/read-all.js';
import { ReasonDialog } from '../ui/reason-dialog.js';
import { stateOf } from '../ui/states.js';

const WAYS = {
  resume: 'End the stop: what was halted goes on',
  restore: 'Put mode, settings and standing orders back to a checkpoint',
  compensate: 'Undo what was carried out since a checkpoint',
} as const;
type Way = keyof typeof WAYS;
const ENDS_STOP: RevertBody = { mode: 'resume' };

/** The way back: first the plan, which changes nothing, then the typed confirmation. */
export function Revert({ guardian }: { guardian: GuardianView }) {
  const me = useMe();
  const [wanted, setWanted] = useState<RevertBody>({
    mode: guardian.mode === 'killed' ? 'resume' : 'restore',
  });
  const checkpoints = useQuery({
    queryKey: ['guardian', 'checkpoints', 'all'],
    queryFn: ({ signal }) => readAll((page) => client.checkpoints.list(page), signal),
  });
  /** The one that was begun here last. */
  const [revertId, setRevertId] = useState<string | null>(null);
  const plan = useMutation({
    mutationFn: (of: RevertBody) => client.guardian.revert({ ...of, dryRun: true }),
  });
  // What is carried out is what was planned, of the kill that was seen with the plan.
  const show = (of: RevertBody) => plan.mutate({ ...of, epoch: guardian.epoch });
  const heading = useRef<HTMLHeadingElement>(null);
  const mayRevert = mayAct(me, 'admin');
  const { hash } = useLocation();
  // The button of the bar leads here: to the plan that ends the stop.
  const isEnding = mayRevert && hash === 'revert' && guardian.mode === 'killed';
  useEffect(() => {
    if (!isEnding) return;
    setWanted(ENDS_STOP);
    show(ENDS_STOP);
    heading.current?.focus();
  }, [isEnding]);
  if (!mayRevert) return null;
  const change = (to: RevertBody) => {
    plan.reset();
    setWanted(to);
  };
  return (
    <section aria-label="Revert">
      <h2 id="revert" tabIndex={-1} ref={heading}>
        Revert
      </h2>
      <label>
        How
        <select
          value={wanted.mode}
          onChange={({ target }) => change({ ...wanted, mode: target.value as Way })}
        >
          {(Object.keys(WAYS) as Way[]).map((way) => (
            <option key={way} value={way}>
              {WAYS[way]}
            </option>
          ))}
        </select>
      </label>
      {wanted.mode !== 'resume' && (
        <label>
          To which checkpoint
          <select
            value={wanted.checkpointId ?? ''}
            onChange={({ target: { value } }) =>
              change({ mode: wanted.mode!, ...(value && { checkpointId: value }) })
            }
          >
            <option value="">The last one before the stop</option>
            {checkpoints.data?.rows.map(({ checkpointId, label, createdAt }) => (
              <option key={checkpointId} value={checkpointId}>
                {label ?? 'Checkpoint'}, {new Date(createdAt).toLocaleString()}
              </option>
            ))}
          </select>
        </label>
      )}
      {plan.error && <Failure error={plan.error} />}
      <button type="button" disabled={plan.isPending} onClick={() => show(wanted)}>
        Show the plan
      </button>
      {plan.isSuccess && (
        <Plan plan={plan.data} wanted={plan.variables} onBegun={setRevertId} done={() => plan.reset()} />
      )}
      {revertId !== null && <Progress key={revertId} revertId={revertId} />}
    </section>
  );
}

const AGAIN_MS = 2_000;

/** How far a revert has come: what is undone, and what a person has to look at. */
function Progress({ revertId }: { revertId: string }) {
  const revert = useQuery({
    queryKey: ['guardian', 'revert', revertId],
    queryFn: () => client.guardian.getRevert(revertId, { limit: 1 }),
    refetchInterval: ({ state: { data } }) => (data?.status === 'running' ? AGAIN_MS : false),
  });
  return (
    <Loaded query={revert}>
      {({ status, counts: { planned, done, failed, not_possible: lasting } }) => (
        <div className="forecast">
          <h3>The revert</h3>
          <p role="status">
            It is {status}: {done} undone, {planned} still to be undone, {failed} failed, {lasting} cannot be
            undone.
          </p>
          <Listing
            queryKey={['guardian', 'revert', revertId]}
            name="work packets of the revert"
            list={async (page) => (await client.guardian.getRevert(revertId, page)).steps}
            empty="No work packet has to be undone."
            isUnderWay={(step) => step.status === 'planned'}
          >
            {({ workPacketId, title, status: became, reason }) => (
              <li key={workPacketId}>
                <span className="title">{title ?? workPacketId}</span>
                <span className="facts">
                  <span className={`status ${became}`}>{stateOf(became)}</span>
                  {reason}
                </span>
              </li>
            )}
          </Listing>
        </div>
      )}
    </Loaded>
  );
}

function Plan({
  plan,
  wanted,
  onBegun,
  done,
}: {
  plan: RevertAnswer;
  wanted: RevertBody;
  onBegun: (revertId: string | null) => void;
  done: () => void;
}) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { restored, planTotal } = plan;
  const isEnd = plan.mode === 'resume';
  const button = useRef<HTMLButtonElement>(null);
  // Who wants to end a stop finds the button before them.
  useEffect(() => {
    if (isEnd) button.current!.focus();
  }, [isEnd]);
  return (
    <div className="forecast" role="status">
      <h3>The plan</h3>
      {restored && (
        <p>
          The mode becomes {restored.mode}; {restored.ordersTotal} standing orders and{' '}
          {restored.settings.length} settings are put back
          {[...restored.orders.map(({ name }) => name), ...restored.settings].map(
            (one, at) => `${at === 0 ? ': ' : ', '}${one}`,
          )}
          .
        </p>
      )}
      <Rows items={plan.plan} empty={isEnd ? 'Nothing was halted.' : 'No work packet has to be undone.'}>
        {({ workPacketId, title, status, reason }) => (
          <li key={workPacketId}>
            <span className="title">{title ?? workPacketId}</span>
            <span className="facts">
              <span className={`status ${status}`}>{stateOf(status)}</span>
              {reason}
            </span>
          </li>
        )}
      </Rows>
      <More shown={plan.plan.length} total={planTotal} />
      <button ref={button} type="button" className="danger" onClick={() => setOpen(true)}>
        {isEnd ? 'End the stop as planned' : 'Carry out this plan'}
      </button>
      <ReasonDialog
        about={`revert ${plan.mode}`}
        title={isEnd ? 'End the stop' : 'Revert'}
        description={`${WAYS[plan.mode]}.`}
        verb={isEnd ? 'End the stop' : 'Revert'}
        {...(!isEnd && { word: 'REVERT' })}
        isOpen={isOpen}
        setOpen={setOpen}
        act={async (reason) => {
          const begun = await client.guardian.revert({
            ...wanted,
            // That of the plan: meanwhile another one may be the last.
            ...(plan.checkpointId !== null && { checkpointId: plan.checkpointId }),
            ...(reason && { reason }),
          });
          onBegun(begun.revertId);
        }}
        onDone={async () => {
          await queries.invalidateQueries();
          done();
        }}
      />
    </div>
  );
}
