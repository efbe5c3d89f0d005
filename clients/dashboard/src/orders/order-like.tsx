import { useQuery } from '@tanstack/react-query';
import { client } from '../session.js';
import { Loaded } from '../ui/list.js';
import { beginningOf, endingOf, isLikeable, orderLike } from './like.js';
import { NewOrder } from './new-order.js';

/** The form of an order that lets go what is like the mails of an approval. */
export function OrderLike({ approvalId }: { approvalId: string }) {
  const approval = useQuery({
    queryKey: ['approval', approvalId],
    queryFn: () => client.approvals.get(approvalId),
  });
  return (
    <section aria-label="Order from an approval">
      <h2>Let mails like this go by themselves</h2>
      <Loaded query={approval}>
        {(data) =>
          !isLikeable(data) ? (
            <p className="empty">No order can be made from this approval.</p>
          ) : (
            <>
              <p>
                Filled from “{data.title}”, as narrow as that: the same capo, the domains that it goes to, and
                a subject that begins with “{beginningOf(data)}”
                {endingOf(data)
                  ? ` and ends with “${endingOf(data)}”, whatever is between`
                  : ', whatever follows'}
                {data.teamId === null && ', for the whole workspace, as it belongs to no team'}. Widen it
                where you want to, such as the number in an hour.
              </p>
              <NewOrder about={`order:like:${approvalId}`} before={orderLike(data)} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}
