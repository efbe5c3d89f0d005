import type { ApprovalSummary } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Time } from '../ui/time.js';
import { ApprovalPage } from './approval-page.js';

const GROUPS = [
  {
    title: 'Needs your text',
    holds: ({ inputsNeeded, ready }: ApprovalSummary) => ready && inputsNeeded > 0,
  },
  { title: 'Questions', holds: ({ kind }: ApprovalSummary) => kind === 'question' },
  { title: 'To decide', holds: ({ ready }: ApprovalSummary) => ready },
  { title: 'Being drafted', holds: () => true },
] as const;

/** What waits for a person, and the one that is open. */
export function Inbox() {
  const { approvalId } = useParams({ strict: false });
  const waiting = useQuery({
    queryKey: ['approvals'],
    queryFn: () => client.approvals.list({ limit: 100 }),
  });
  if (waiting.error) return <Failure error={waiting.error} onRetry={() => void waiting.refetch()} />;
  if (!waiting.data) return <p className="empty">Loading what waits for you.</p>;
  const { items, total } = waiting.data;
  const left = [...items];
  const groups = GROUPS.map(({ title, holds }) => ({ title, items: takeOut(left, holds) }));
  return (
    <div className={approvalId ? 'inbox open' : 'inbox'}>
      <section className="queue" aria-label="Inbox">
        <h1>
          Inbox <span className="count">{total}</span>
        </h1>
        {total === 0 && <p className="empty">Nothing waits for you. What a capo drafts appears here.</p>}
        {groups.map(
          ({ title, items: own }) =>
            own.length > 0 && (
              <section key={title}>
                <h2>
                  {title} <span className="count">{own.length}</span>
                </h2>
                <ul>
                  {own.map((approval) => (
                    <Row key={approval.approvalId} approval={approval} />
                  ))}
                </ul>
              </section>
            ),
        )}
      </section>
      <section className="reading" aria-label="Open approval">
        {approvalId ? (
          <ApprovalPage key={approvalId} approvalId={approvalId} next={nextOf(items, approvalId)} />
        ) : (
          total > 0 && <p className="empty">Choose one to read it.</p>
        )}
      </section>
    </div>
  );
}

function Row({ approval }: { approval: ApprovalSummary }) {
  const { approvalId, title, risk, urgent, agent, capo, expiresAt } = approval;
  return (
    <li>
      <Link to="/approvals/$approvalId" params={{ approvalId }} activeProps={{ 'aria-current': 'true' }}>
        <span className="title">{title}</span>
        <span className="facts">
          <span className={`risk ${risk}`}>{risk}</span>
          {urgent && <span className="urgent">urgent</span>}
          <span>{agent?.name ?? capo}</span>
          <span>
            until <Time at={expiresAt} />
          </span>
        </span>
      </Link>
    </li>
  );
}

/** Those that hold, which leave the list: each approval stands in one group. */
function takeOut(from: ApprovalSummary[], holds: (approval: ApprovalSummary) => boolean): ApprovalSummary[] {
  const taken = from.filter(holds);
  from.splice(0, from.length, ...from.filter((approval) => !taken.includes(approval)));
  return taken;
}

/** The one to read after a decision. */
function nextOf(items: readonly ApprovalSummary[], approvalId: string): string | undefined {
  const at = items.findIndex((approval) => approval.approvalId === approvalId);
  return (items[at + 1] ?? items[at - 1])?.approvalId;
}
