import { useQuery } from '@tanstack/react-query';
import { useMe } from '../me.js';
import { client } from '../session.js';
import { readAll } from '../ui/read-all.js';
import { type Order, ruleOf } from './order.js';
import { ruleIn } from './rule-words.js';

/** What an order decides, in words made from its fields: a person reads them before they let it decide. */
export function Rule({ order }: { order: Partial<Order> }) {
  const me = useMe();
  const approvers = (order.approval as { approvers?: { memberIds?: unknown } } | null | undefined)?.approvers;
  const members = useQuery({
    queryKey: ['member', 'names'],
    queryFn: ({ signal }) => readAll((page) => client.members.list(page), signal),
    enabled: !!approvers?.memberIds,
    retry: false,
    staleTime: 60_000,
  }).data;
  const names = Object.fromEntries([
    ...(me?.teams ?? []).map(({ teamId, name }) => [teamId, name]),
    ...(me?.capos ?? []).map(({ role, name }) => [role, name]),
    ...(members?.rows ?? []).map(({ memberId, displayName }) => [memberId, displayName]),
  ]) as Record<string, string>;
  return (
    <dl className="rule" aria-label="What it decides">
      {ruleIn(order, names).map(({ name, words, fault }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {words}
            {fault && (
              <p className="warning" role="alert">
                {fault}
              </p>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What narrows an order, in one line for a list. */
export function RuleInShort({
  order,
}: {
  order: Omit<Partial<Order>, 'match'> & { match: Order['match'] | null };
}) {
  const capos = useMe()?.capos ?? [];
  if (order.match === null) return <span>The rule is too long for a list. Open the order to read it.</span>;
  const names = Object.fromEntries(capos.map(({ role, name }) => [role, name]));
  const lines = ruleIn(ruleOf(order as Order), names).slice(2);
  return (
    <span>
      {lines
        .filter(({ isGiven }) => isGiven)
        .map(({ name, words }) => `${name}: ${words}`)
        .join('. ')}
    </span>
  );
}

/** What the author of an order wrote about it: it decides nothing, and may say something else than the rule. */
export function AuthorsWords({ order: { name, text } }: { order: Pick<Order, 'name' | 'text'> }) {
  if (!text || text === name) return null;
  return (
    <span className="authors-words">
      <span className="quiet">The author’s words, which decide nothing:</span> <q>{text}</q>
    </span>
  );
}
