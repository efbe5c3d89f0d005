import { type ApprovalView, ContentChangedError } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Time } from '../ui/time.js';
import { editOf, type Field, fieldsOf } from './edits.js';
import { useTyped } from './typed.js';

/** One approval: what will leave, why it asks, and the decision. */
export function ApprovalPage({ approvalId, next }: { approvalId: string; next: string | undefined }) {
  const approval = useQuery({
    queryKey: ['approval', approvalId],
    queryFn: () => client.approvals.get(approvalId),
  });
  if (approval.error) return <Failure error={approval.error} onRetry={() => void approval.refetch()} />;
  if (!approval.data) return <p className="empty">Loading.</p>;
  return <Read approval={approval.data} next={next} />;
}

function Read({ approval, next }: { approval: ApprovalView; next: string | undefined }) {
  const { approvalId, title, status, contentHash, risk, riskReasons, reversibility, policy, requestedBy } =
    approval;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { typed, type, forget } = useTyped(approvalId);
  const [feedback, setFeedback] = useState('');
  const edit = editOf(approval, typed);
  const goOn = () =>
    next ? navigate({ to: '/approvals/$approvalId', params: { approvalId: next } }) : navigate({ to: '/' });
  const settled = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['approvals'] }),
      queries.invalidateQueries({ queryKey: ['approval', approvalId] }),
    ]);

  const decide = useMutation({
    mutationFn: async (how: 'save' | 'approve' | 'reject' | 'revise') => {
      if (how === 'reject' || how === 'revise') {
        return client.approvals.reject(approvalId, { feedback, ...(how === 'revise' && { revise: true }) });
      }
      // What was read is what is approved: an edit of somebody else in between is refused.
      let read = approval;
      if (edit) {
        read = await client.approvals.edit(approvalId, edit, { ifMatch: contentHash! });
        queries.setQueryData(['approval', approvalId], read);
        forget();
      }
      return how === 'save' ? read : client.approvals.approve(approvalId, { ifMatch: read.contentHash! });
    },
    onSuccess: async (_answer, how) => {
      await settled();
      if (how === 'save') return;
      forget();
      await goOn();
    },
    onError: (error) => error instanceof ContentChangedError && void settled(),
  });

  const isOpen = status === 'pending' && approval.ready;
  const missing = approval.packets
    .flatMap(fieldsOf)
    .filter(({ id, isMissing }) => isMissing && !typed[id]?.trim());
  return (
    <article>
      <header>
        <h1>{title}</h1>
        <p className="facts">
          <span className={`risk ${risk}`}>risk {risk}</span>
          <span>{REVERSIBLE[reversibility] ?? reversibility}</span>
          <span>asked by {requestedBy.name}</span>
          <span>
            until <Time at={approval.expiresAt} />
          </span>
        </p>
        {riskReasons.map((reason) => (
          <p key={reason} className="warning">
            {reason}
          </p>
        ))}
        {policy && <p className="quiet">{policy.explanation.join(' ')}</p>}
        {approval.waitingFor && <p className="quiet">{approval.waitingFor.message}</p>}
      </header>
      {approval.packets.map((packet) => (
        <fieldset key={packet.workPacketId} disabled={!isOpen}>
          <legend>{packet.title}</legend>
          {fieldsOf(packet).map((field) => (
            <Input
              key={field.id}
              field={field}
              typed={typed[field.id]}
              onType={(value) => type(field.id, value)}
            />
          ))}
        </fieldset>
      ))}
      {approval.packets.length === 0 && approval.output && (
        <pre className="output">{approval.output.body}</pre>
      )}
      {decide.error && <Failure error={decide.error} />}
      {isOpen ? (
        <form className="decision" onSubmit={(event) => event.preventDefault()}>
          <div className="row">
            <button
              type="button"
              className="primary"
              disabled={decide.isPending || missing.length > 0}
              onClick={() => decide.mutate('approve')}
            >
              {edit ? 'Save and approve' : 'Approve'}
            </button>
            {edit && (
              <button type="button" disabled={decide.isPending} onClick={() => decide.mutate('save')}>
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
              value={feedback}
              onChange={({ target }) => setFeedback(target.value)}
              maxLength={5_000}
            />
          </label>
          <div className="row">
            {approval.kind === 'output' && (
              <button
                type="button"
                disabled={decide.isPending || !feedback.trim()}
                onClick={() => decide.mutate('revise')}
              >
                Send back
              </button>
            )}
            <button
              type="button"
              className="danger"
              disabled={decide.isPending || !feedback.trim()}
              onClick={() => decide.mutate('reject')}
            >
              Reject
            </button>
          </div>
        </form>
      ) : (
        <p className="quiet">
          {status === 'pending' ? 'It is still being drafted.' : `It is ${status.replace('_', ' ')}.`}
          {approval.decidedBy && ` Decided by ${approval.decidedBy.name}.`} {approval.feedback}
        </p>
      )}
    </article>
  );
}

function Input({
  field,
  typed,
  onType,
}: {
  field: Field;
  typed: string | undefined;
  onType: (value: string) => void;
}) {
  const { label, value, isLong, isMissing, question } = field;
  const shown = typed ?? value;
  const isLacking = isMissing && !shown.trim();
  const given = {
    value: shown,
    'aria-invalid': isLacking || undefined,
    onChange: ({ target }: { target: { value: string } }) => onType(target.value),
  };
  return (
    <label className={isLacking ? 'missing' : undefined}>
      {label}
      {question && <span className="quiet"> {question}</span>}
      {isLong ? <textarea {...given} /> : <input {...given} />}
    </label>
  );
}

const REVERSIBLE: Record<string, string> = {
  read_only: 'changes nothing',
  reversible: 'can be taken back',
  externally_reversible: 'can be taken back by the system it goes to',
  irreversible: 'cannot be taken back',
};
