import type { ApprovalView } from '@consigliere/sdk';
import { Link } from '@tanstack/react-router';
import { inNames } from '../ui/names.js';
import { Time } from '../ui/time.js';
import { Decided } from './decided.js';

const REVERSIBLE: Record<string, string> = {
  read_only: 'changes nothing',
  reversible: 'can be undone',
  externally_reversible: 'can be undone by the receiving system',
  irreversible: 'cannot be undone',
};

const ABOUT: Partial<Record<ApprovalView['kind'], string>> = {
  action: 'An agent asks to act.',
  question: 'An agent asks you a question.',
  standing_order: 'A standing order waits to be activated.',
  budget_override: 'This would spend more than a budget allows.',
};

/** What a person has to know before they decide: how dangerous it is, who asks, why, and who may decide. */
export function Facts({ approval }: { approval: ApprovalView }) {
  const { title, kind, risk, riskReasons, reversibility, policy, requestedBy, waitingFor, directiveId } =
    approval;
  const rationales = approval.packets.filter(({ rationale }) => rationale !== '');
  return (
    <header>
      <h1>{title}</h1>
      <p className="facts">
        <span className={`risk ${risk}`}>risk {risk}</span>
        <span>{REVERSIBLE[reversibility] ?? reversibility}</span>
        <span>asked by {requestedBy.name}</span>
        {directiveId && (
          <Link to="/directives/$directiveId" params={{ directiveId }}>
            Read the directive
          </Link>
        )}
        {approval.status === 'pending' && (
          <span>
            until <Time at={approval.expiresAt} />, then{' '}
            {approval.onExpiry === 'reject' ? 'rejected' : 'escalated'}
          </span>
        )}
      </p>
      <Decided approval={approval} />
      {ABOUT[kind] && <p>{ABOUT[kind]}</p>}
      {riskReasons.map((reason) => (
        <p key={reason} className="warning">
          {inNames(reason)}
        </p>
      ))}
      {policy && (
        <p className="quiet">
          {approval.status === 'pending' && (
            <>
              As decided <Time at={approval.requestedAt} />, and not again by an order made since:{' '}
            </>
          )}
          {inNames(policy.explanation.join(' '))} {policy.amount && `Amount: ${policy.amount}.`}
          {policy.explanation.some((sentence) => sentence.includes('work packet')) &&
            ' A work packet is one thing to be done, such as one mail.'}
        </p>
      )}
      {rationales.map(({ workPacketId, rationale }) => (
        <p key={workPacketId} className="claim">
          {kind === 'action' ? `${requestedBy.name} says: “${rationale}”` : rationale}
        </p>
      ))}
      {approversOf(approval).map((sentence) => (
        <p key={sentence} className="quiet">
          {sentence}
        </p>
      ))}
      {waitingFor && <p className="quiet">{waitingFor.message}</p>}
    </header>
  );
}

/** As many names as are read. */
const MOST_NAMES = 8;

/** Who has approved, who may, and which standing orders say so. */
function approversOf({ votes: { need, have, by, approvers }, mayApprove }: ApprovalView): string[] {
  const voted = by.map((vote) => vote.by.name).join(', ');
  const names = mayApprove.slice(0, MOST_NAMES).map(({ name }) => name);
  const more = mayApprove.length - names.length;
  return [
    ...(need > 1 ? [`${have} of ${need} people have approved${voted && `: ${voted}`}.`] : []),
    ...(names.length > 0 ? [`May approve: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`] : []),
    ...approvers.map(({ name }) => `The standing order “${name}” says who may approve it.`),
  ];
}
