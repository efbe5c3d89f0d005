import type { ApprovalView } from '@consigliere/sdk';
import { useNavigate } from '@tanstack/react-router';
import { mayAct, useMe } from '../me.js';

/** Leads to the form of an order that is filled from these mails, for members who may make one that lets something go. */
export function LetLikeThis({ approval }: { approval: ApprovalView }) {
  const { approvalId, kind, status, capo, packets, teamId } = approval;
  const navigate = useNavigate();
  const isAdmin = mayAct(useMe(), 'admin', teamId);
  const isOffered =
    isAdmin &&
    kind === 'output' &&
    capo !== null &&
    (status === 'pending' || status === 'approved') &&
    packets.length > 0 &&
    // Without a recipient or a subject the order would be about more than is shown.
    packets.every(({ action: { type, target, params } }) => {
      const { subject } = params;
      return type === 'email.send' && target !== null && typeof subject === 'string' && subject.trim() !== '';
    });
  if (!isOffered) return null;
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
