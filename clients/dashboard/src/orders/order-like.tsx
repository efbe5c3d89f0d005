import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../session.js';
import { Loaded } from '../ui/list.js';
import { tell } from '../ui/told.js';
import { beginningOf, isLikeable, orderLike } from './like.js';
import { OrderForm } from './order-form.js';

/** The form of an order that lets go what is like the mails of an approval. */
export function OrderLike({ approvalId }: { approvalId: string }) {
  const navigate = useNavigate();
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
                a subject that begins with “{beginningOf(data)}”, whatever follows
                {data.teamId === null && ', for the whole workspace, as it belongs to no team'}. Widen it
                where you want to, such as the number in an hour.
              </p>
              <OrderForm
                about={`order:like:${approvalId}`}
                isNew
                before={orderLike(data)}
                verb="Keep as a draft"
                act={(order) => client.standingOrders.create({ ...order, draft: true })}
                onDone={({ standingOrderId, name }) => {
                  tell(`Kept as a draft: ${name}`);
                  void navigate({ to: '/orders/$standingOrderId', params: { standingOrderId } });
                }}
              >
                <p className="quiet">
                  A draft decides nothing. Next you see what it would have done, and activate it or not.
                </p>
              </OrderForm>
            </>
          )
        }
      </Loaded>
    </section>
  );
}
