export const SIGNAL_TYPES = [
  'revenue',
  'buyer',
  'confidence',
  'connector',
  'policy',
  'agent',
  'report',
  'partner',
] as const;
export type SignalType = (typeof SIGNAL_TYPES)[number];

export const SIGNAL_SEVERITIES = ['info', 'warning', 'critical'] as const;
export type SignalSeverity = (typeof SIGNAL_SEVERITIES)[number];

/** What a person has still to do with a signal: it follows from the columns and the time. */
export const SIGNAL_STATUSES = ['open', 'snoozed', 'acknowledged'] as const;
export type SignalStatus = (typeof SIGNAL_STATUSES)[number];
