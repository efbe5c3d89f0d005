import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { mayAct, useCapoNames, useMe } from '../me.js';
import { client } from '../session.js';
import { Decided } from '../inbox/decided.js';
import { LetLikeThis } from '../inbox/like-this.js';
import { Allowed } from '../sent/sent.js';
import { Failure } from '../ui/failure.js';
import { Listing } from '../ui/listing.js';
import { ReceiptLink } from '../ui/receipt-link.js';
import { stateOf } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { PacketRow } from './packet-row.js';

/** States in which a directive can still be cancelled, and those from which it can be tried again (CONTRACT, section 5). */
const OPEN = new Set(['pending_approval', 'queued', 'executing', 'sending']);

/** The life of one directive: what it became, what was sent, and each step with its time. */
export function DirectivePage() {
  const { directiveId } = useParams({ from: '/directives/$directiveId' });
  const queries = useQueryClient();
  const me = useMe();
  const capoName = useCapoNames();
  const directive = useQuery({
    queryKey: ['directive', directiveId],
    queryFn: () => client.directives.get(directiveId),
  });
  const act = useMutation({
    mutationFn: (how: 'cancel' | 'retry') => client.directives[how](directiveId),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['directive', directiveId] }),
        queries.invalidateQueries({ queryKey: ['directives'] }),
      ]),
  });
  const asked = directive.data?.status === 'pending_approval' ? null : (directive.data?.approvalId ?? null);
  const decision = useQuery({
    queryKey: ['approval', asked],
    queryFn: () => client.approvals.get(asked!),
    enabled: asked !== null,
  });
  const isOver = directive.data !== undefined && !OPEN.has(directive.data.status);
  const sent = useQuery({
    queryKey: ['sent', 'of', directiveId, isOver],
    queryFn: () => client.auditFeed.listSent({ directiveId, limit: 100 }),
    enabled: isOver && asked === null,
  });
  if (!directive.data && directive.error)
    return (
      <div className="page">
        <h1>Directive</h1>
        <Failure error={directive.error} onRetry={() => void directive.refetch()} />
        <Link to="/directives">All directives</Link>
      </div>
    );
  if (!directive.data) return <p className="empty">Loading.</p>;
  const {
    directive: text,
    status,
    capo,
    routing,
    error,
    approvalId,
    history,
    output,
    teamId,
  } = directive.data;
  const mayChange = mayAct(me, 'operator', teamId);
  const title = titleOf(text);
  return (
    <article className="page">
      <h1>{title}</h1>
      <p className="facts">
        <span className={`status ${status}`}>{stateOf(status)}</span>
        <span>{capo && capoName(capo)}</span>
        {routing && <span>{routing.reason}</span>}
      </p>
      {title !== text && <pre className="output">{text}</pre>}
      {error && <p className="warning">{error.message}</p>}
      {decision.data && <Decided approval={decision.data} />}
      {decision.data?.status === 'approved' && <LetLikeThis approval={decision.data} />}
      {act.error && <Failure error={act.error} />}
      <div className="row">
        {status === 'pending_approval' && approvalId && (
          <Link className="button" to="/approvals/$approvalId" params={{ approvalId }}>
            Read and decide
          </Link>
        )}
        {mayChange && OPEN.has(status) && (
          <button type="button" disabled={act.isPending} onClick={() => act.mutate('cancel')}>
            Cancel
          </button>
        )}
        {mayChange && status === 'failed' && (
          <button type="button" disabled={act.isPending} onClick={() => act.mutate('retry')}>
            Try again
          </button>
        )}
      </div>
      {sent.data && sent.data.items.length > 0 && (
        <ul aria-label="Who let it go">
          {sent.data.items.map((item) => (
            <li key={item.receiptId}>
              {item.title}: <Allowed item={item} />
            </li>
          ))}
        </ul>
      )}
      <h2>Work packets</h2>
      <Listing
        queryKey={['directive', directiveId]}
        name="work packets"
        list={(page) => client.workPackets.list({ directiveId, ...page })}
        empty="None yet."
      >
        {(packet) => <PacketRow key={packet.workPacketId} packet={packet} />}
      </Listing>
      {output && <pre className="output">{output.body.replace(LABELS, '$1')}</pre>}
      <h2>History</h2>
      <ol className="rows">
        {history.map(({ to, at, receiptId }) => (
          <li key={receiptId}>
            <span className="facts">
              <span className={`status ${to}`}>{stateOf(to)}</span> <Time at={at} />{' '}
              <ReceiptLink id={receiptId} />
            </span>
          </li>
        ))}
      </ol>
    </article>
  );
}

/** The labels that the service writes before each part of a mail, in the marks of Markdown. */
const LABELS = /^\*\*([A-Z][a-z ]{0,20}:)\*\*/gm;

/** As many characters as a heading is read with; the whole text stands below it. */
const LONGEST_TITLE = 120;

/** The first line, up to the end of a word. */
function titleOf(text: string): string {
  const [line = ''] = text.split('\n', 1);
  if (line.length <= LONGEST_TITLE) return line;
  const cut = line.slice(0, LONGEST_TITLE);
  return `${cut.replace(/\s+\S{0,30}$/, '')} …`;
}
