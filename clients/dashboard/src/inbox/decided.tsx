import type { ApprovalView } from '@consigliere/sdk';
import { Link } from '@tanstack/react-router';
import { ReceiptLink } from '../ui/receipt-link.js';
import { Time } from '../ui/time.js';

const ENDS: Record<Exclude<ApprovalView['status'], 'pending'>, string> = {
  approved: 'Approved',
  rejected: 'Rejected',
  changes_requested: 'Sent back',
  expired: 'Expired without a decision',
  cancelled: 'Cancelled',
};

/** What was decided, by whom, when, and why. */
export function Decided({ approval }: { approval: ApprovalView }) {
  const { status, votes, decidedBy, decidedAt, feedback, answer, receiptId, nextApprovalId } = approval;
  if (status === 'pending') return null;
  const voters = votes.by.map(({ by }) => by.name);
  const names = status === 'approved' && voters.length > 1 ? voters.join(', ') : decidedBy?.name;
  return (
    <>
      <p>
        <strong>
          {answer === null ? ENDS[status] : 'Answered'}
          {names && ` by ${names}`}
        </strong>
        {decidedAt !== null && (
          <>
            , <Time at={decidedAt} />
          </>
        )}
        . {receiptId !== null && <ReceiptLink id={receiptId} />}
      </p>
      {feedback && <p className="claim">{feedback}</p>}
      {answer !== null && <pre className="output">{JSON.stringify(answer, null, 2)}</pre>}
      {nextApprovalId !== null && (
        <p>
          <Link to="/approvals/$approvalId" params={{ approvalId: nextApprovalId }}>
            Read the draft that was made instead
          </Link>
        </p>
      )}
    </>
  );
}
