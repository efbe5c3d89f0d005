import type { ReceiptItem } from '@consigliere/sdk';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Earlier, Newer, Rows } from '../ui/list.js';
import { save } from '../ui/save.js';
import { ReceiptLink } from '../ui/receipt-link.js';
import { Time } from '../ui/time.js';

/** As many as the service gives at once. */
const MOST = 10_000;

/** The receipt of everything that happened; the chain is verified on demand, and taken along as a file. */
export function AuditFeed({ teamId }: { teamId: string | undefined }) {
  const about = teamId ? { teamId } : {};
  const queryKey = ['feed', 'audit', teamId];
  const receipts = useInfiniteQuery({
    queryKey,
    staleTime: Infinity,
    queryFn: ({ pageParam }) =>
      client.auditFeed.list({ limit: 50, ...about, ...(pageParam !== null && { before: pageParam }) }),
    initialPageParam: null as number | null,
    getNextPageParam: ({ nextBefore }) => nextBefore,
  });
  const verify = useMutation({ mutationFn: () => client.auditFeed.verify({}) });
  const exported = useMutation({
    mutationFn: async (format: 'csv' | 'jsonl') => {
      const answer = await client.open('GET', '/api/pro/audit-feed', { query: { format, ...about } });
      const content = await answer.blob();
      const { saveCsv } = await import('../ui/csv-file.js');
      if (format === 'csv') saveCsv('receipts', content);
      else save(content, 'receipts.jsonl');
      const lines = (await content.text()).split('\n').length - 1;
      return lines < MOST
        ? 'The file has all receipts that you may see.'
        : `The file has only the newest ${MOST.toLocaleString()} receipts.`;
    },
  });
  const error = receipts.error ?? verify.error ?? exported.error;
  return (
    <section aria-label="Audit feed">
      <h2>Audit feed</h2>
      <div className="row">
        <button type="button" disabled={verify.isPending} onClick={() => verify.mutate()}>
          {verify.isPending ? 'Verifying' : 'Verify the chain'}
        </button>
        <button type="button" disabled={exported.isPending} onClick={() => exported.mutate('jsonl')}>
          Export to verify elsewhere
        </button>
        <button type="button" disabled={exported.isPending} onClick={() => exported.mutate('csv')}>
          Export CSV
        </button>
      </div>
      {error && <Failure error={error} />}
      {exported.data && <p role="status">{exported.data}</p>}
      {verify.data && (
        <div role="status">
          <p className={verify.data.ok ? undefined : 'warning'}>
            {verify.data.ok
              ? `No fault found: each of the ${verify.data.checked} receipts is in its place, as it was written.`
              : `Faults found in ${verify.data.checked} receipts. Export them before anything else is done, and ask the person who runs the service.`}
          </p>
          {verify.data.ok && (
            <p className="quiet">
              The service has checked itself. To check it without the service, keep an export now and then,
              and compare a later one with it.
            </p>
          )}
          <ul>
            {verify.data.faults.map(({ kind, seq, message }) => (
              <li key={`${kind}${seq}`}>
                Receipt {seq}: {message}
              </li>
            ))}
          </ul>
        </div>
      )}
      <Newer query={receipts} queryKey={queryKey} />
      {receipts.data && (
        <Rows items={receipts.data.pages.flatMap(({ items }) => items)} empty="No receipt yet.">
          {(receipt) => <Receipt key={receipt.receiptId} receipt={receipt} />}
        </Rows>
      )}
      <Earlier query={receipts} />
    </section>
  );
}

function Receipt({ receipt: { seq, at, summary, outcome, receiptId } }: { receipt: ReceiptItem }) {
  return (
    <li>
      {summary}
      <span className="facts">
        <span>number {seq}</span>
        {outcome !== 'success' && <span className="urgent">{outcome}</span>}
        <Time at={at} />
        <ReceiptLink id={receiptId} />
      </span>
    </li>
  );
}
