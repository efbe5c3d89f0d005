import type { ApprovalView, BootstrapView } from '@consigliere/sdk';
import { useNavigate } from '@tanstack/react-router';
import { mayAct, useMe } from '../me.js';
import { isLikeable } from '../orders/like.js';

const VERB = 'Let mails like this go by themselves';

/** What may be done next about an approval that was just approved; undefined where no order can be made from it, or not by this member. */
export function nextLikeThis(me: BootstrapView | undefined, approval: ApprovalView) {
  if (!mayAct(me, 'admin', approval.teamId) || !isLikeable(approval)) return undefined;
  return {
    href: `/orders?like=${approval.approvalId}`,
    verb: `Let mails like “${approval.title}” go by themselves`,
  };
}

/** Leads to the form of an order that is filled from these mails, for members who may make one that lets something go. */
export function LetLikeThis({ approval }: { approval: ApprovalView }) {
  const navigate = useNavigate();
  const next = nextLikeThis(useMe(), approval);
  if (!next) return null;
  return (
    <p>
      <button type="button" onClick={() => void navigate({ href: next.href })}>
        {VERB}
      </button>{' '}
      <span className="quiet">
        Opens a draft of a standing order; nothing changes before it is activated.
      </span>
    </p>
  );
}
