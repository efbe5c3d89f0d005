import type { DirectiveSummary, WorkPacketSummary } from '@consigliere/sdk';

/** The states of directives and their work packets, as people say them. */
const WORDS: Record<DirectiveSummary['status'] | WorkPacketSummary['status'], string> = {
  pending_approval: 'waits for approval',
  awaiting_approval: 'waits for approval',
  drafted: 'drafted',
  queued: 'waits its turn',
  executing: 'being drafted',
  sending: 'being sent',
  executed: 'carried out',
  failed: 'failed',
  denied: 'not allowed',
  rejected: 'rejected',
  expired: 'not decided in time',
  cancelled: 'cancelled',
  halted: 'stopped by the kill switch',
  reverted: 'undone',
};

export function stateOf(status: string): string {
  return WORDS[status as keyof typeof WORDS] ?? status.replaceAll('_', ' ');
}
