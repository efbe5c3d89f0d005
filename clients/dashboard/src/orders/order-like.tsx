import type { ApprovalView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../session.js';
import { Loaded } from '../ui/list.js';
import { tell } from '../ui/told.js';
import type { Order } from './order.js';
import { OrderForm } from './order-form.js';

/** What the service takes of a condition and of a name. */
const MAX_TEXT = 500;
const MAX_NAME = 120;
/** A shorter beginning of a subject would match too much. */
const LEAST_FIXED = 4;

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
        {(data) => (
          <>
            <p>
              Filled from “{data.title}”, as narrow as that: the same capo, the domains that it goes to, and
              how its subject begins. Widen it where you want to, such as the number in an hour.
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
        )}
      </Loaded>
    </section>
  );
}

/** The narrowest order that still lets the next mail of this kind go. */
function orderLike({ teamId, capo, packets }: ApprovalView): Order {
  const mails = packets.map(
    ({ action }) => action.params as { to?: string[]; cc?: string[]; subject?: string },
  );
  const recipients = mails.map(({ to = [], cc = [] }) => [...to, ...cc]);
  const domains = recipients
    .flat()
    .map((address) => address.slice(address.lastIndexOf('@') + 1).toLowerCase());
  const subject = beginningOf(mails.map((mail) => mail.subject ?? ''));
  return {
    name: `Mails like “${subject.trim()}”`.slice(0, MAX_NAME),
    effect: 'allow',
    ...(teamId !== null && { teamId }),
    capos: [capo as 'capo_ops'],
    match: {
      actionTypes: ['email.send'],
      fields: { target: { $domainIn: [...new Set(domains)] }, 'params.subject': { $prefix: subject } },
    },
    limits: { maxPerHour: 1, maxRecipients: Math.max(...recipients.map(({ length }) => length)) },
  };
}

/** What the subjects share from their first letter on, up to a number, which differs from mail to mail. */
function beginningOf([first = '', ...others]: string[]): string {
  let end = 0;
  while (end < first.length && others.every((one) => one[end] === first[end])) end++;
  const shared = first.slice(0, end);
  const fixed = shared.slice(0, shared.search(/\d|$/));
  return (fixed.trim().length < LEAST_FIXED ? shared : fixed).slice(0, MAX_TEXT);
}
