import type { StandingOrderView } from '@consigliere/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Loaded, Rows } from '../ui/list.js';
import { Time } from '../ui/time.js';
import { tell } from '../ui/told.js';

/** What to do in the form about the findings that are usual. */
const ADVICE: Record<string, string> = {
  'order.any_recipient':
    'If you know whom it is for, fill in “Only for recipients at”. If customers are at any domain, say how the subject begins and ends, and set limits.',
  'order.recipients_by_exclusion': 'Say who may be reached, beside who may not: “Only for recipients at”.',
  'order.wide_domain': 'Anybody can have an address at such a domain. Name the domains of those you know.',
  'order.every_action': 'Fill in “What it is about”.',
  'order.every_action_of_a_class': 'Fill in “What it is about”.',
  'order.every_capo': 'Tick under “Only for these capos” who should do this.',
  'order.unlimited_irreversible': 'Fill in “At most in an hour” or “At most in a day”.',
  'order.no_expiry': 'Fill in “Ends”, so that somebody looks at it again.',
  'order.no_expiry_irreversible': 'Fill in “Ends”, so that somebody looks at it again.',
  'order.large_audience': 'Lower the number of recipients of each.',
  'order.unbounded_amount': 'Fill in “Only for amounts up to”.',
};

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
                {passed ? 'Passed' : 'Did not pass'} for version {targetVersion}, <Time at={createdAt} />
                {findings.length > 0 && ': read what was found before you activate it'}
              </p>
              <Rows items={findings} empty="No rule is broken.">
                {({ ruleId, severity, path, message, suggestion }) => (
                  <li key={`${ruleId} ${path}`}>
                    <span className="title">{message}</span>
                    <span className="facts">
                      <span className={`severity ${severity}`}>{severity}</span>
                    </span>
                    {ADVICE[ruleId]}
                    <details>
                      <summary>For orders written as JSON</summary>
                      <p>{suggestion}</p>
                      <code>{ruleId}</code> {path && <code>{path}</code>}
                    </details>
                  </li>
                )}
              </Rows>
              {findingsOmitted > 0 && <p>And {findingsOmitted} more.</p>}
              <p className="quiet">
                It scores {score}; {threshold} is needed to pass.
              </p>
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
