import { useNavigate } from '@tanstack/react-router';
import { client } from '../session.js';
import { tell } from '../ui/told.js';
import type { Order } from './order.js';
import { OrderForm } from './order-form.js';

/** The form of an order that is kept as a draft, and then shown with what it would have done. */
export function NewOrder({ about, before }: { about: string; before: Order }) {
  const navigate = useNavigate();
  return (
    <OrderForm
      about={about}
      isNew
      before={before}
      verb="Keep as a draft"
      act={(order) => client.standingOrders.create({ ...order, draft: true })}
      onDone={({ standingOrderId, name }) => {
        tell(`Kept as a draft: ${name}`);
        void navigate({ to: '/orders/$standingOrderId', params: { standingOrderId } });
      }}
    >
      <p className="quiet">
        A draft decides nothing. Next you see what it would have done, and activate it or not. The safety
        check looks for whom it is, how many in an hour, recipients of each, and when it ends.
      </p>
    </OrderForm>
  );
}
