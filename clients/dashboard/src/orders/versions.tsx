import type { StandingOrderVersionSummary, StandingOrderView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { WordDiff } from '../inbox/word-diff.js';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Act } from '../ui/act.js';
import { Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { tell } from '../ui/told.js';
import { ruleOf, writtenOf } from './order.js';
import { Rule } from './rule.js';

/** What the order said before, each version against the one now, and the way back to it. */
export function Versions({ order }: { order: StandingOrderView }) {
  const { standingOrderId } = order;
  return (
    <section aria-label="Versions">
      <h2>Versions</h2>
      <Listing<StandingOrderVersionSummary>
        name="versions"
        queryKey={['standing_order', standingOrderId, 'versions']}
        list={(page) => client.standingOrders.listVersions(standingOrderId, page)}
        empty="None."
      >
        {(version) => <Version key={version.version} order={order} summary={version} />}
      </Listing>
    </section>
  );
}

function Version({ order, summary }: { order: StandingOrderView; summary: StandingOrderVersionSummary }) {
  const { version, isCurrent, name, createdBy, createdAt } = summary;
  const { standingOrderId, effect, teamId, status } = order;
  const me = useMe();
  const [isOpen, setOpen] = useState(false);
  const mayWrite = mayAct(
    me,
    effect === 'allow' || summary.effect === 'allow' ? 'admin' : 'operator',
    teamId,
  );
  return (
    <li>
      <span className="title">
        {version}: {name}
      </span>
      <span className="facts">
        <span>{createdBy.name}</span>
        <Time at={createdAt} />
        {isCurrent && <span className="count">now</span>}
      </span>
      {!isCurrent && (
        <>
          <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
            <summary>What has changed since version {version}</summary>
            {isOpen && <Difference order={order} version={version} />}
          </details>
          {status !== 'archived' && mayWrite && (
            <Act
              verb="Go back"
              of={`to version ${version}`}
              id={`${standingOrderId} ${version}`}
              effect="The order says the same again as in this version, as its next version."
              act={({ acknowledge }) =>
                client.standingOrders.rollback(standingOrderId, {
                  version,
                  ...(acknowledge && { acknowledge: true }),
                })
              }
              stale={['standing_order']}
              onDone={(saved) => tell(`As in version ${version} again, now version ${saved.version}`)}
            >
              <FormerRule order={order} version={version} />
              {mayAct(me, 'owner') && status === 'active' && (
                <label className="check">
                  <input type="checkbox" name="acknowledge" data-confirm />I know that it takes effect at
                  once, also on what cannot be taken back
                </label>
              )}
            </Act>
          )}
        </>
      )}
    </li>
  );
}

function useFormer({ standingOrderId }: StandingOrderView, version: number) {
  return useQuery({
    queryKey: ['standing_order_version', standingOrderId, version],
    queryFn: () => client.standingOrders.getVersion(standingOrderId, String(version)),
    staleTime: Infinity,
  });
}

/** What would decide again. */
function FormerRule({ order, version }: { order: StandingOrderView; version: number }) {
  const former = useFormer(order, version);
  return (
    <Loaded query={former}>{(data) => <Rule order={ruleOf({ ...data, teamId: order.teamId })} />}</Loaded>
  );
}

function Difference({ order, version }: { order: StandingOrderView; version: number }) {
  const former = useFormer(order, version);
  return (
    <Loaded query={former}>
      {(data) => (
        <WordDiff
          before={JSON.stringify(writtenOf(data), null, 2)}
          after={JSON.stringify(writtenOf(order), null, 2)}
        />
      )}
    </Loaded>
  );
}
