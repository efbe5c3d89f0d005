import type { ListedStandingOrder, SuggestionView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { mayAct, mayActSomewhere, useMe } from '../me.js';
import { client } from '../session.js';
import { Act } from '../ui/act.js';
import { Csv, onePage } from '../ui/csv.js';
import { Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { tell } from '../ui/told.js';
import { EFFECTS, needsOwner, type Order } from './order.js';
import { NewOrder } from './new-order.js';
import { OrderLike } from './order-like.js';
import { AuthorsWords, Rule, RuleInShort } from './rule.js';
import { Changes } from './simulation.js';
import { STATES, stateIn } from './states.js';

const NEW: Order = { name: '', effect: 'allow', match: {} };

/** What is decided without a person, and what is always asked: the standing orders, and those that are suggested. */
export function OrdersPage() {
  const me = useMe();
  const navigate = useNavigate();
  const { search } = useLocation();
  const status = stateIn(search);
  const like = likeIn(search);
  if (!me) return <p className="empty">Loading.</p>;
  return (
    <div className="page wide">
      <h1>Standing orders</h1>
      <p>
        Without a standing order a person approves everything that leaves. An order lets some of it go by
        itself, slows it down, or stops it. If several are about the same, the strictest holds.
      </p>
      {like !== undefined && <OrderLike key={like} approvalId={like} />}
      {like === undefined && mayActSomewhere(me, 'operator') ? (
        <details>
          <summary>Write a standing order</summary>
          <NewOrder about="order:new" before={NEW} />
        </details>
      ) : (
        like === undefined && (
          <p className="quiet">
            Operators write orders that are stricter, admins those that let something go.
          </p>
        )
      )}
      <Suggestions />
      <section aria-label="Orders">
        <h2>Orders</h2>
        <select
          aria-label="State"
          value={status}
          onChange={({ target }) => void navigate({ href: `/orders?status=${target.value}`, replace: true })}
        >
          <option value="all">All states</option>
          {Object.keys(STATES).map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
        {status !== 'all' && <p className="quiet">{STATES[status]}</p>}
        <Listing<ListedStandingOrder>
          name={status === 'all' ? 'standing orders' : `${status} standing orders`}
          queryKey={['standing_order', status]}
          list={(page) => client.standingOrders.list({ status, ...page })}
          empty={
            status === 'all'
              ? 'None yet: a person approves everything that leaves.'
              : `No order is ${status}.`
          }
        >
          {(order) => <Summary key={order.standingOrderId} order={order} />}
        </Listing>
      </section>
    </div>
  );
}

/** The approval from which an order is to be filled. */
function likeIn(search: object): string | undefined {
  const { like } = search as { like?: unknown };
  return typeof like === 'string' ? like : undefined;
}

function Summary({ order }: { order: ListedStandingOrder }) {
  const { standingOrderId, name, status, effect, teamId, createdBy } = order;
  const me = useMe();
  return (
    <li>
      <Link to="/orders/$standingOrderId" params={{ standingOrderId }}>
        <span className="title">{name}</span>
        <RuleInShort order={order} />
        <AuthorsWords order={order} />
        <span className="facts">
          <span className="count">{status}</span>
          {status === 'draft' && needsOwner(order) && (
            <span className="urgent">an owner has to activate it</span>
          )}
          <span>{EFFECTS[effect]}</span>
          <span>by {createdBy.name}</span>
          {teamId !== null && <span>{me?.teams.find((team) => team.teamId === teamId)?.name}</span>}
        </span>
      </Link>
    </li>
  );
}

/** Orders that people would not have to decide about each time any more. */
function Suggestions() {
  const suggestions = useQuery({
    queryKey: ['standing_order', 'suggestions'],
    queryFn: () => client.suggestions.list(),
  });
  return (
    <Loaded query={suggestions}>
      {({ items }) =>
        items.length > 0 && (
          <section aria-label="Suggestions">
            <h2>Suggested</h2>
            <ul className="rows">
              {items.map((suggestion) => (
                <Suggestion key={suggestion.suggestionId} suggestion={suggestion} />
              ))}
            </ul>
            <Csv name="suggested orders" total={items.length} list={() => onePage(items)} />
          </section>
        )
      }
    </Loaded>
  );
}

function Suggestion({ suggestion }: { suggestion: SuggestionView }) {
  const { suggestionId, order, approvals, lastApprovedAt, simulation } = suggestion;
  const me = useMe();
  const navigate = useNavigate();
  return (
    <li>
      <span className="title">{order.name}</span>
      <Rule order={order} />
      <AuthorsWords order={order} />
      <span className="facts">
        <span>{approvals} approvals without an edit</span>
        <span>
          the last <Time at={lastApprovedAt} />
        </span>
        <span>it would have saved {simulation.relaxed} approvals</span>
      </span>
      <details>
        <summary>What it would have done</summary>
        <Changes simulation={simulation} />
      </details>
      <div className="row">
        {mayAct(me, 'admin', order.teamId) && (
          <Act
            verb="Make a draft"
            of={order.name}
            effect="The draft decides nothing until it is activated."
            act={() => client.suggestions.accept(suggestionId)}
            stale={['standing_order']}
            onDone={({ standingOrderId }) => {
              tell(`Made a draft: ${order.name}`);
              void navigate({ to: '/orders/$standingOrderId', params: { standingOrderId } });
            }}
          />
        )}
        {mayAct(me, 'operator', order.teamId) && (
          <Act
            verb="Dismiss"
            of={order.name}
            effect="It is not suggested again."
            act={() => client.suggestions.dismiss(suggestionId)}
            stale={['standing_order']}
            says={`Dismissed: ${order.name}`}
          />
        )}
      </div>
    </li>
  );
}
