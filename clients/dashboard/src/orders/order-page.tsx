import type { OneStandingOrderView, StandingOrderView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Act } from '../ui/act.js';
import { Failure } from '../ui/failure.js';
import { Loaded } from '../ui/list.js';
import { tell } from '../ui/told.js';
import { EFFECTS, needsOwner, ruleOf, writtenOf } from './order.js';
import { OrderForm } from './order-form.js';
import { AuthorsWords, Rule } from './rule.js';
import { Safety } from './safety.js';
import { Changes } from './simulation.js';
import { STATES } from './states.js';
import { Versions } from './versions.js';

const STALE = ['standing_order'] as const;

/** One standing order: what it says, what it would have done, its versions, and how it begins and ends. */
export function OrderPage() {
  const { standingOrderId } = useParams({ from: '/orders/$standingOrderId' });
  const order = useQuery({
    queryKey: ['standing_order', standingOrderId],
    queryFn: () => client.standingOrders.get(standingOrderId, { include: 'used' }),
  });
  if (order.error && !order.data) {
    return (
      <div className="page">
        <h1>Standing order</h1>
        <Failure error={order.error} onRetry={() => void order.refetch()} />
        <Link to="/orders">All standing orders</Link>
      </div>
    );
  }
  return <Loaded query={order}>{(data) => <Whole key={data.version} order={data} />}</Loaded>;
}

function Whole({ order }: { order: OneStandingOrderView }) {
  const { standingOrderId, name, status, effect, teamId, version, warnings, createdBy } = order;
  const me = useMe();
  const mayWrite = mayAct(me, effect === 'allow' ? 'admin' : 'operator', teamId);
  return (
    <article className="page wide">
      <h1>{name}</h1>
      <p className="facts">
        <span className="count">{status === 'shadow' ? 'shadow: tried out' : status}</span>
        <span>{EFFECTS[effect]}</span>
        <span>version {version}</span>
        <span>by {createdBy.name}</span>
        {teamId !== null && <span>{me?.teams.find((team) => team.teamId === teamId)?.name}</span>}
      </p>
      <p className="quiet">{STATES[status]}</p>
      {status === 'draft' && order.heldBecause !== null && <p className="warning">{reasonOf(order)}</p>}
      {warnings?.map((warning) => (
        <p key={warning} className="warning">
          {warning}
        </p>
      ))}
      <section aria-label="Rule">
        <h2>What it decides</h2>
        <Rule order={ruleOf(order)} />
        <AuthorsWords order={order} />
      </section>
      {(effect === 'allow' || effect === 'throttle') && order.activatedAt !== null && <LetGo order={order} />}
      <Steps order={order} />
      {status !== 'archived' && <Simulation order={order} />}
      <Safety order={order} />
      {status !== 'archived' && mayWrite && <Change order={order} />}
      <Versions order={order} />
      <p className="quiet">
        <code>{standingOrderId}</code>
      </p>
    </article>
  );
}

/** What the order has let go by itself, and how much of its limits that is. */
function LetGo({ order: { standingOrderId, effect, limits, used } }: { order: OneStandingOrderView }) {
  const sent = useQuery({
    queryKey: ['sent', standingOrderId, 'count'],
    queryFn: () => client.auditFeed.listSent({ standingOrderId, limit: 1 }),
    enabled: effect === 'allow',
  }).data;
  const bounds = [
    { used: used?.lastHour, most: limits?.maxPerHour, in: 'in the last hour' },
    { used: used?.lastDay, most: limits?.maxPerDay, in: 'in the last 24 hours' },
  ].filter((bound) => typeof bound.used === 'number' && typeof bound.most === 'number');
  if (!sent && bounds.length === 0) return null;
  return (
    <section aria-label="What it let go">
      <h2>What it let go</h2>
      {sent && (
        <p>
          {sent.total === 0 ? (
            'It let nothing through in the last 30 days.'
          ) : (
            <Link to="/sent" search={{ order: standingOrderId }}>
              {sent.total}
              {sent.totalIsMinimum && ' or more'} let through in the last 30 days
            </Link>
          )}
        </p>
      )}
      {bounds.map((bound) => (
        <p key={bound.in}>
          {bound.used} of {bound.most} {bound.in}
        </p>
      ))}
    </section>
  );
}

/** Why it is held, in the words of the service, without how a program says that it knows. */
function reasonOf(order: StandingOrderView): string {
  const reason = (order.heldBecause ?? '').replace(/ ?An owner must allow it with "acknowledge".*$/s, '');
  return needsOwner(order) ? `${reason} An owner has to activate it.` : reason;
}

/** How it begins to decide, and how that ends. */
function Steps({ order }: { order: StandingOrderView }) {
  const { standingOrderId, name, status, effect, teamId, version } = order;
  const me = useMe();
  const isAdmin = mayAct(me, 'admin', teamId);
  const isOwner = mayAct(me, 'owner');
  const isOver = status === 'archived';
  const mayActivate = isAdmin && !isOver && status !== 'active' && (isOwner || !needsOwner(order));
  // One that tightens is taken away by an admin only.
  const mayPause = mayAct(me, effect === 'allow' ? 'operator' : 'admin', teamId);
  return (
    <div className="row">
      {mayActivate && (
        <Act
          verb="Activate"
          of={name}
          id={`${standingOrderId} ${version}`}
          effect="From now on it decides. It can be paused at any time."
          act={({ acknowledge }) =>
            client.standingOrders.activate(standingOrderId, {
              version,
              ...(acknowledge && { acknowledge: true }),
            })
          }
          stale={STALE}
          onDone={({ status: became }) =>
            tell(`${became === 'active' ? 'It decides now' : 'Saved'}: ${name}`)
          }
        >
          <Rule order={ruleOf(order)} />
          {isOwner && effect === 'allow' && (
            <label className="check">
              <input type="checkbox" name="acknowledge" required={needsOwner(order)} data-confirm />I have
              read the rule and what it would have done, and know that it lets out what cannot be taken back
            </label>
          )}
        </Act>
      )}
      {isAdmin && !isOver && status !== 'shadow' && status !== 'active' && (
        <Act
          verb="Try out"
          of={name}
          id={`${standingOrderId} ${version}`}
          effect="It changes nothing. What it would have done with new work shows here."
          act={() => client.standingOrders.activate(standingOrderId, { shadow: true, version })}
          stale={STALE}
          says={`Tried out from now on: ${name}`}
        >
          <Rule order={ruleOf(order)} />
        </Act>
      )}
      {mayPause && (status === 'active' || status === 'shadow') && (
        <Act
          verb="Pause"
          of={name}
          effect="It decides nothing until it is activated again. What waits by it is decided again."
          act={() => client.standingOrders.pause(standingOrderId)}
          stale={STALE}
          says={`Paused: ${name}`}
        />
      )}
      {isAdmin && !isOver && (
        <Act
          verb="Archive"
          of={name}
          effect="It decides nothing any more, for good. Its versions and receipts stay."
          isDanger
          act={() => client.standingOrders.archive(standingOrderId)}
          stale={STALE}
          says={`Archived: ${name}`}
        />
      )}
    </div>
  );
}

/** What the order would have done, for members who may simulate it: before it is activated, and while it is tried out. */
function Simulation({ order: { standingOrderId, version, status, teamId } }: { order: StandingOrderView }) {
  const mayAsk = mayAct(useMe(), 'operator', teamId);
  const [isWanted, setWanted] = useState(status === 'draft' || status === 'shadow');
  const simulation = useQuery({
    queryKey: ['simulation', standingOrderId, version],
    queryFn: () => client.standingOrders.simulate(standingOrderId),
    enabled: mayAsk && isWanted,
    staleTime: 10_000,
  });
  if (!mayAsk) return null;
  return (
    <section aria-label="Simulation">
      <h2>What it would have done</h2>
      {isWanted ? (
        <Loaded query={simulation}>{(data) => <Changes simulation={data} />}</Loaded>
      ) : (
        <button type="button" onClick={() => setWanted(true)}>
          Look at the past
        </button>
      )}
    </section>
  );
}

function Change({ order }: { order: StandingOrderView }) {
  const { standingOrderId, version, status } = order;
  const isOwner = mayAct(useMe(), 'owner');
  const [isAcknowledged, setAcknowledged] = useState(false);
  const before = writtenOf(order);
  return (
    <details>
      <summary>Change it</summary>
      <OrderForm
        about={`order:${standingOrderId}:${version}`}
        before={before}
        verb="Save as the next version"
        act={(after) =>
          client.standingOrders.update(standingOrderId, {
            // What was taken out is said to be gone.
            ...Object.fromEntries(Object.keys(before).map((name) => [name, null])),
            ...after,
            version,
            ...(isAcknowledged && { acknowledge: true }),
          })
        }
        onDone={(saved) => tell(`Saved as version ${saved.version}: ${saved.name}`)}
      >
        {isOwner && status === 'active' && (
          <label className="check">
            <input
              type="checkbox"
              checked={isAcknowledged}
              onChange={({ target }) => setAcknowledged(target.checked)}
            />
            I know that it takes effect at once, also on what cannot be taken back
          </label>
        )}
      </OrderForm>
    </details>
  );
}
