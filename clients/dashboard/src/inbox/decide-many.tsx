import type { ApprovalSummary, DecisionResult, ShownApproval } from '@consigliere/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { leaveInbox } from '../live.js';
import { client } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { patiently, useLeft } from '../ui/read-all.js';
import { inNames } from '../ui/names.js';
import { useTyped } from '../ui/typed.js';
import { Shown } from './content.js';

/** Which can be approved without being opened: nothing is missing, and nothing is asked. */
export function canBeChosen({ ready, inputsNeeded, kind }: ApprovalSummary): boolean {
  return ready && inputsNeeded === 0 && kind !== 'question';
}

/** Several at once, as the dialog shows them. */
export function DecideMany({ chosen, clear }: { chosen: readonly ApprovalSummary[]; clear: () => void }) {
  /** Those of the dialog stay the same, whatever becomes of the list behind it. */
  const [opened, setOpened] = useState<readonly ApprovalSummary[]>();
  if (chosen.length === 0 && !opened) return null;
  return (
    <>
      {chosen.length > 0 && (
        <div className="row" role="status">
          <button type="button" className="primary" onClick={() => setOpened(chosen)}>
            Decide {chosen.length} at once
          </button>
          <button type="button" onClick={clear}>
            Clear selection
          </button>
        </div>
      )}
      {opened && (
        <Dialog
          title={`Decide ${opened.length} at once`}
          description="Each is decided as you read it here. One that was changed meanwhile is not decided."
          isOpen
          setOpen={() => setOpened(undefined)}
        >
          <Many chosen={opened} clear={clear} close={() => setOpened(undefined)} />
        </Dialog>
      )}
    </>
  );
}

function Many({
  chosen,
  clear,
  close,
}: {
  chosen: readonly ApprovalSummary[];
  clear: () => void;
  close: () => void;
}) {
  const queries = useQueryClient();
  const { read, said, error, retry } = useContents(chosen);
  const { typed, type, forget } = useTyped('decide-many');
  const feedback = typed['feedback'] ?? '';
  const decide = useMutation({
    mutationFn: (decision: 'approve' | 'reject') =>
      client.approvals.decide({
        decisions: read!.map(({ approvalId, contentHash }) => ({
          approvalId,
          decision,
          ...(decision === 'reject' && { feedback }),
          ...(contentHash !== null && { contentHash }),
        })),
      }),
    onSuccess: ({ results }) => {
      forget();
      clear();
      // The stream tells what else became of them.
      const decided = results.filter((one) => !one.error && one.status !== 'pending');
      leaveInbox(
        queries,
        decided.map(({ approvalId }) => approvalId),
      );
    },
  });
  if (decide.data) {
    return (
      <>
        <Results results={decide.data.results} chosen={chosen} />
        <button type="button" onClick={close}>
          Close
        </button>
      </>
    );
  }
  const isReady = read !== undefined && read.length > 0 && !decide.isPending;
  const missing = chosen.length - (read?.length ?? chosen.length);
  const count = chosen.length - missing;
  return (
    <>
      {read ? (
        <ul className="many">
          {read.map((approval) => (
            <One key={approval.approvalId} approval={approval} />
          ))}
        </ul>
      ) : (
        <p role="status">Reading what would leave. {said}</p>
      )}
      {missing > 0 && (
        <p className="warning">{missing} of them cannot be read any more, and are left as they are.</p>
      )}
      {error && <Failure error={error} onRetry={retry} />}
      {decide.error && <Failure error={decide.error} />}
      <label>
        Reason for rejecting
        <textarea
          value={feedback}
          onChange={({ target }) => type('feedback', target.value)}
          maxLength={10_000}
        />
      </label>
      <div className="row">
        <button
          type="button"
          className="primary"
          disabled={!isReady}
          onClick={() => decide.mutate('approve')}
        >
          Approve {count}
        </button>
        <button
          type="button"
          className="danger"
          disabled={!isReady || !feedback.trim()}
          onClick={() => decide.mutate('reject')}
        >
          Reject {count}
        </button>
        <button type="button" onClick={close}>
          Back
        </button>
      </div>
    </>
  );
}

function One({ approval }: { approval: ShownApproval }) {
  const { title, risk, riskReasons, revisions } = approval;
  const edited = revisions.length > 1 && revisions.at(-1)?.by.name;
  return (
    <li>
      <h3>
        {title} <span className={`risk ${risk}`}>risk {risk}</span>
      </h3>
      {edited && <p className="quiet">Changed by {edited}</p>}
      {riskReasons.map((reason) => (
        <p key={reason} className="warning">
          {inNames(reason)}
        </p>
      ))}
      <Shown approval={approval} />
    </li>
  );
}

/** What each says now, read once: it stays as it is while a person reads it, and that is what they approve. */
function useContents(chosen: readonly ApprovalSummary[]) {
  const [read, setRead] = useState<readonly ShownApproval[]>();
  const [said, say] = useState('');
  const [error, setError] = useState<Error>();
  const left = useLeft();
  useEffect(() => {
    if (error) return;
    const signal = left();
    readContents(
      chosen.map(({ approvalId }) => approvalId),
      (seconds) => say(`Too many requests; it continues in ${seconds} s.`),
      signal,
    ).then(setRead, (reason: Error) => signal.aborted || setError(reason));
    // The dialog is opened with what was chosen, and is another one for another choice.
  }, [chosen, error]);
  return { read, said, error, retry: () => setError(undefined) };
}

/** One answer has as many as fit into it; of those that cannot be read it has none. */
async function readContents(ids: readonly string[], onWait: (seconds: number) => void, left: AbortSignal) {
  const found = new Map<string, ShownApproval>();
  for (;;) {
    const rest = ids.filter((id) => !found.has(id));
    if (rest.length === 0) break;
    const { items } = await patiently(() => client.approvals.contents({ ids: rest.join(',') }), onWait, left);
    if (items.length === 0) break;
    for (const approval of items) found.set(approval.approvalId, approval);
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

function Results({
  results,
  chosen,
}: {
  results: readonly DecisionResult[];
  chosen: readonly ApprovalSummary[];
}) {
  const failed = results.filter(({ error }) => error);
  const titleOf = (id: string) => chosen.find(({ approvalId }) => approvalId === id)?.title ?? id;
  return (
    <div role="status">
      <p>
        {results.length - failed.length} of {results.length} decided.
      </p>
      <ul className="summary">
        {failed.map(({ approvalId, error }) => (
          <li key={approvalId} className="warning">
            {titleOf(approvalId)}: {error!.message}
          </li>
        ))}
      </ul>
    </div>
  );
}
