import type { ApprovalView } from '@consigliere/sdk';
import { useNavigate } from '@tanstack/react-router';
import { mayAct, useMe } from '../me.js';
import { isLikeable } from '../orders/like.js';

/** Leads to the form of an order that is filled from these mails, for members who may make one that lets something go. */
export function LetLikeThis({ approval }: { approval: ApprovalView }) {
  const { approvalId, teamId } = approval;
  const navigate = useNavigate();
  if (!mayAct(useMe(), 'admin', teamId) || !isLikeable(approval)) return null;
  return (
    <p>
      <button type="button" onClick={() => void navigate({ href: `/orders?like=${approvalId}` })}>
        Let mails like this go by themselves
      </button>{' '}
      <span className="quiet">
        Opens a draft of a standing order; nothing changes before it is activated.
      </span>
    </p>
  );
}
