import type { ApprovalView } from '@consigliere/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { leaveInbox } from '../live.js';
import { useMe } from '../me.js';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { useTyped } from '../ui/typed.js';
import { AnswerForm } from './answer-form.js';
import { Changed } from './changed.js';
import { Content } from './content.js';
import { Decision } from './decision.js';
import { Facts } from './facts.js';
import { asLastRead, rememberRead } from './last-read.js';
import { LetLikeThis } from './like-this.js';
import { Snooze } from './snooze.js';

/** One approval: what will leave, why it asks, and the decision. */
export function ApprovalPage({ approvalId, next }: { approvalId: string; next: string | undefined }) {
  const approval = useQuery({
    queryKey: ['approval', approvalId],
    queryFn: () => client.approvals.get(approvalId),
  });
  const me = useMe();
  if (!approval.data && approval.error) {
    return (
      <>
        <h1>Approval</h1>
        <Failure error={approval.error} onRetry={() => void approval.refetch()} />
      </>
    );
  }
  if (!approval.data || !me) return <p className="empty">Loading.</p>;
  return <Read approval={approval.data} next={next} memberId={me.operator.memberId} />;
}

function Read({
  approval,
  next,
  memberId,
}: {
  approval: ApprovalView;
  next: string | undefined;
  memberId: string;
}) {
  const { approvalId, kind, status, contentHash, ready } = approval;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const typing = useTyped(approvalId);
  const [read, setRead] = useState(() => asLastRead(memberId, approval));
  useEffect(() => rememberRead(memberId, read), [memberId, read]);
  const isChanged = read.contentHash !== null && read.contentHash !== contentHash;
  const onDecided = async (became: string) => {
    if (became !== 'pending') leaveInbox(queries, [approvalId]);
    // The stream tells of the decision, and has it read where it is still shown.
    void queries.invalidateQueries({ queryKey: ['approval', approvalId], refetchType: 'none' });
    await goOn();
  };
  const goOn = async () => {
    // A person who has gone elsewhere in the meantime stays there.
    if (!location.pathname.endsWith(approvalId)) return;
    await (next
      ? navigate({ to: '/approvals/$approvalId', params: { approvalId: next }, search: true })
      : navigate({ to: '/', search: true }));
  };
  const isOpen = status === 'pending' && ready;
  return (
    <article>
      <Facts approval={approval} />
      {isOpen && isChanged && <Changed before={read} now={approval} onRead={() => setRead(approval)} />}
      {kind === 'question' ? (
        <AnswerForm approval={approval} isOpen={isOpen} onDecided={onDecided} {...typing} />
      ) : (
        <>
          <Content approval={approval} isOpen={isOpen} {...typing} />
          {isOpen && (
            <Decision
              approval={approval}
              isRead={!isChanged}
              onSaved={setRead}
              onDecided={onDecided}
              {...typing}
            />
          )}
        </>
      )}
      {(isOpen || status === 'approved') && <LetLikeThis approval={approval} />}
      {isOpen && <Snooze approval={approval} onSnoozed={goOn} />}
      {status === 'pending' && !ready && <p className="quiet">It is still being drafted.</p>}
    </article>
  );
}
