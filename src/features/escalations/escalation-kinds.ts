/** Why a person has to decide (CONTRACT, Escalation). */
export const ESCALATION_KINDS = [
  'approval_expiring',
  'approval_expired',
  'packet_failed',
  'budget_exceeded',
  'connector_red',
  'compensation_failed',
  'kill_unconfirmed',
] as const;
export type EscalationKind = (typeof ESCALATION_KINDS)[number];

export const ESCALATION_STATUSES = ['open', 'resolved', 'dismissed'] as const;
export type EscalationStatus = (typeof ESCALATION_STATUSES)[number];

/** The option that every kind may offer: a person has seen it, and nothing is done. */
export const DISMISS = 'dismiss';
