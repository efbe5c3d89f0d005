import type { EscalationView } from '@consigliere/sdk';
import { Link } from '@tanstack/react-router';

/** The way to what an escalation is about, where it has a page. */
export function SubjectLink({ escalation: { entity, directiveId } }: { escalation: EscalationView }) {
  if (entity.type === 'approval') {
    return (
      <Link to="/approvals/$approvalId" params={{ approvalId: entity.id }}>
        Read the approval
      </Link>
    );
  }
  if (directiveId === null) return null;
  return (
    <Link to="/directives/$directiveId" params={{ directiveId }}>
      Read the directive
    </Link>
  );
}
