import type { ApprovalSummary, DecisionResult } from '@consigliere/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { useTyped } from '../ui/typed.js';

/** Which can be approved without being opened: nothing is missing, and nothing is asked. */
export function canBeChosen({ ready, inputsNeeded, kind }: ApprovalSummary): boolean {
  return ready && inputsNeeded === 0 && kind !== 'question';
}

/** Several at once, as they stand in the list: a summary first, then one answer for each. */
export function DecideMany({ chosen, clear }: { chosen: readonly ApprovalSummary[]; clear: () => void }) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { typed, type, forget } = useTyped('decide-many');
  const feedback = typed['feedback'] ?? '';
  const decide = useMutation({
    mutationFn: (decision: 'approve' | 'reject') =>
      client.approvals.decide({
        decisions: chosen.map(({ approvalId, contentHash }) => ({
          approvalId,
          decision,
          ...(contentHash !== null && { contentHash }),
          ...(decision === 'reject' && { feedback }),
        })),
      }),
    onSuccess: forget,
    onSettled: () => queries.invalidateQueries({ queryKey: ['approvals'] }),
  });
  const close = (open: boolean) => {
    setOpen(open);
    if (open || !decide.data) return;
    decide.reset();
    clear();
  };
  if (chosen.length === 0 && !isOpen) return null;
  return (
    <>
      <div className="row" role="status">
        <button type="button" className="primary" onClick={() => setOpen(true)}>
          Decide {chosen.length} at once
        </button>
        <button type="button" onClick={clear}>
          Choose none
        </button>
      </div>
      <Dialog
        title={`Decide ${chosen.length} at once`}
        description="Each is approved or rejected as you see it in the list. One that was changed meanwhile is not decided."
        isOpen={isOpen}
        setOpen={close}
      >
        {decide.data ? (
          <Results results={decide.data.results} chosen={chosen} />
        ) : (
          <>
            <ul className="summary">
              {chosen.map(({ approvalId, title, risk }) => (
                <li key={approvalId}>
                  {title} <span className={`risk ${risk}`}>risk {risk}</span>
                </li>
              ))}
            </ul>
            <label>
              Why not, to reject them
              <textarea
                value={feedback}
                onChange={({ target }) => type('feedback', target.value)}
                maxLength={10_000}
              />
            </label>
            {decide.error && <Failure error={decide.error} />}
          </>
        )}
        <div className="row">
          {!decide.data && (
            <>
              <button
                type="button"
                className="primary"
                disabled={decide.isPending}
                onClick={() => decide.mutate('approve')}
              >
                Approve {chosen.length}
              </button>
              <button
                type="button"
                className="danger"
                disabled={decide.isPending || !feedback.trim()}
                onClick={() => decide.mutate('reject')}
              >
                Reject {chosen.length}
              </button>
            </>
          )}
          <button type="button" onClick={() => close(false)}>
            {decide.data ? 'Close' : 'Back'}
          </button>
        </div>
      </Dialog>
    </>
  );
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
