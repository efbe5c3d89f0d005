import { type ApprovalView, ContentChangedError } from '@consigliere/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { tell } from '../ui/told.js';
import { Failure } from '../ui/failure.js';
import type { useTyped } from '../ui/typed.js';
import { nextLikeThis } from './like-this.js';
import { editOf, faultOf, fieldsOf, isMissing } from './edits.js';

/** What was typed as the feedback is kept like the fields. */
const FEEDBACK = 'feedback';
/** A second click of a double click would decide the next one, which nobody has read. */
const SETTLES_MS = 700;

interface Given extends ReturnType<typeof useTyped> {
  /** As it was read, which is what is decided. */
  approval: ApprovalView;
  /** False while somebody else's changes have not been read. */
  isRead: boolean;
  onSaved: (approval: ApprovalView) => void;
  onDecided: (status: string) => Promise<unknown>;
}

/** The decision about a draft or an action: approve it as read or as changed, send it back, reject it. */
export function Decision({ approval, isRead, typed, type, forget, onSaved, onDecided }: Given) {
  const { approvalId, contentHash, kind } = approval;
  const queries = useQueryClient();
  const me = useMe();
  const edit = editOf(approval, typed);
  const feedback = typed[FEEDBACK] ?? '';
  const decide = useMutation({
    mutationFn: async (how: 'save' | 'approve' | 'reject' | 'revise') => {
      if (how === 'reject' || how === 'revise') {
        const body = { feedback, ...(how === 'revise' && { revise: true }) };
        const { status } = await client.approvals.reject(approvalId, body, { ifMatch: contentHash! });
        return { status, read: approval };
      }
      // What was read is what is decided: an edit of somebody else in between is refused.
      let read = approval;
      if (edit) {
        read = await client.approvals.edit(approvalId, edit, { ifMatch: contentHash! });
        queries.setQueryData(['approval', approvalId], read);
        onSaved(read);
        forget();
      }
      const { status } =
        how === 'save' ? read : await client.approvals.approve(approvalId, { ifMatch: read.contentHash! });
      return { status, read };
    },
    onSuccess: async ({ status, read }, how) => {
      // A vote may leave it waiting for others.
      if (status === 'pending') await queries.invalidateQueries({ queryKey: ['approvals'] });
      if (how === 'save') return;
      forget();
      tell(
        `${DONE[how]}: ${approval.title}`,
        how === 'approve' && status === 'approved' ? nextLikeThis(me, read) : undefined,
      );
      await onDecided(status);
    },
    onError: (error) =>
      error instanceof ContentChangedError &&
      void queries.invalidateQueries({ queryKey: ['approval', approvalId] }),
  });
  const fields = approval.packets.flatMap((packet) => fieldsOf(packet, kind));
  const missing = fields.filter((field) => isMissing(field, typed));
  const hasFault = fields.some((field) => faultOf(field, typed) !== undefined);
  const { refusal } = approval;
  // With a draft that prepared nothing there is nothing to approve.
  const isEmpty = kind === 'output' && approval.packets.length === 0;
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), SETTLES_MS);
    return () => clearTimeout(timer);
  }, []);
  const isBusy = decide.isPending || !isSettled;
  if (me && !mayAct(me, 'operator', approval.teamId)) return <p className="quiet">{refusal}</p>;
  return (
    <form className="decision" onSubmit={(event) => event.preventDefault()}>
      {decide.error && <Failure error={decide.error} />}
      {refusal && <p className="quiet">{refusal}</p>}
      <div className="row">
        {!refusal && !isEmpty && (
          <button
            type="button"
            className="primary"
            aria-keyshortcuts="a"
            data-grave={approval.risk === 'high' || approval.risk === 'critical' || undefined}
            disabled={isBusy || !isRead || hasFault || missing.length > 0}
            onClick={() => decide.mutate('approve')}
          >
            {edit ? 'Save and approve' : 'Approve'}
          </button>
        )}
        {edit && (
          <button
            type="button"
            disabled={isBusy || !isRead || hasFault}
            onClick={() => decide.mutate('save')}
          >
            Save
          </button>
        )}
      </div>
      {missing.length > 0 && (
        <p className="quiet">Still missing: {missing.map(({ label }) => label).join(', ')}.</p>
      )}
      <label>
        What should be different, or why not
        <textarea
          aria-keyshortcuts="r"
          value={feedback}
          onChange={({ target }) => type(FEEDBACK, target.value)}
          maxLength={10_000}
        />
      </label>
      {kind === 'output' && me?.features.model === false && (
        <p className="quiet">
          Drafts are made by the built-in runner here, which follows no wishes: sent back, the draft returns
          as it was. Edit it above instead.
        </p>
      )}
      <div className="row">
        {kind === 'output' && (
          <button
            type="button"
            disabled={isBusy || !isRead || !feedback.trim()}
            onClick={() => decide.mutate('revise')}
          >
            Send back
          </button>
        )}
        <button
          type="button"
          className="danger"
          disabled={isBusy || !isRead || !feedback.trim()}
          onClick={() => decide.mutate('reject')}
        >
          Reject
        </button>
      </div>
    </form>
  );
}

const DONE = {
  approve: 'Approved',
  reject: 'Rejected',
  revise: 'Sent back for another draft',
} as const;
