import type { DeliverySummary, DestinationView } from '@consigliere/sdk';

export const EVENTS: Record<DestinationView['events'][number], string> = {
  'approval.requested': 'a person is asked',
  'approval.decided': 'a person has decided',
  'action.completed': 'an agent from outside reports that its own action is done',
  'directive.created': 'our own work was handed in to the capos',
  'directive.executed': 'our own work was carried out by the capos, or failed',
  'kill.activated': 'everything was stopped',
  'revenue.recorded': 'revenue was recorded',
  'report.daily': 'the Daily Report was made',
  'pack.installed': 'a skill pack was installed',
  'pack.revoked': 'a skill pack was revoked',
};

/** When an event was sent, in words. */
export const wordsOf = (event: DeliverySummary['event']): string =>
  event === 'webhook.test' ? 'a test' : EVENTS[event];
