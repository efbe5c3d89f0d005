import type { StandingOrderView } from '@consigliere/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Loaded, Rows } from '../ui/list.js';
import { Time } from '../ui/time.js';
import { tell } from '../ui/told.js';

/** The safety eval of an order: that of its last activation, or one that was just asked for, with what it found and what to do. */
export function Safety({
  order: { standingOrderId, name, evalRunId, teamId },
}: {
  order: StandingOrderView;
}) {
  const mayAsk = mayAct(useMe(), 'operator', teamId);
  const asked = useMutation({
    mutationFn: () =>
      client.evals.run({
        name: `Safety of ${name}`.slice(0, 120),
        targetEntityType: 'standing_order',
        targetEntityId: standingOrderId,
      }),
    onSuccess: ({ passed }) => tell(`Checked: it ${passed ? 'passed' : 'did not pass'}.`),
  });
  const shownId = asked.data?.evalRunId ?? evalRunId;
  const run = useQuery({
    queryKey: ['eval', shownId],
    queryFn: () => client.evals.get(shownId!),
    enabled: shownId !== null,
    staleTime: Infinity,
  });
  return (
    <section aria-label="Safety eval">
      <h2>Is it safe?</h2>
      {shownId === null ? (
        <p className="quiet">
          It is checked against the rules when it is to become active, or before if you ask.
        </p>
      ) : (
        <Loaded query={run}>
          {({ passed, score, threshold, createdAt, findings, findingsOmitted, targetVersion }) => (
            <>
              <p className={passed ? undefined : 'warning'} role="status">
                {passed ? 'Passed' : 'Did not pass'}: score {score}, needs {threshold}, version{' '}
                {targetVersion}, <Time at={createdAt} />
              </p>
              <Rows items={findings} empty="No rule is broken.">
                {({ ruleId, severity, path, message, suggestion }) => (
                  <li key={`${ruleId} ${path}`}>
                    <span className="title">{message}</span>
                    <span className="facts">
                      <span className={`severity ${severity}`}>{severity}</span>
                      <code>{ruleId}</code>
                      {path && <code>{path}</code>}
                    </span>
                    {suggestion}
                  </li>
                )}
              </Rows>
              {findingsOmitted > 0 && <p>And {findingsOmitted} more.</p>}
            </>
          )}
        </Loaded>
      )}
      {asked.error && <Failure error={asked.error} />}
      {mayAsk && (
        <button type="button" disabled={asked.isPending} onClick={() => asked.mutate()}>
          Check its safety now
        </button>
      )}
    </section>
  );
}
