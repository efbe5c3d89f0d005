import type { ApprovalView } from '@consigliere/sdk';
import type { Order } from './order.js';

/** What the service takes of a condition and of a name. */
const MAX_TEXT = 500;
const MAX_NAME = 120;
/** A shorter beginning of a subject would match too much. */
const LEAST_FIXED = 4;

/** Whether an order can say what these mails have in common: without a recipient or a subject it would be about more than is shown. */
export function isLikeable({ kind, status, capo, packets }: ApprovalView): boolean {
  return (
    kind === 'output' &&
    capo !== null &&
    (status === 'pending' || status === 'approved') &&
    packets.length > 0 &&
    packets.every(({ action: { type, target } }) => type === 'email.send' && target !== null) &&
    beginningOf({ packets }) !== ''
  );
}

const mailsOf = (packets: ApprovalView['packets']) =>
  packets.map(({ action }) => action.params as { to?: string[]; cc?: string[]; subject?: string });

/** The narrowest order that still lets the next mail of this kind go. */
export function orderLike({ teamId, capo, packets }: ApprovalView): Order {
  const mails = mailsOf(packets);
  const recipients = mails.map(({ to = [], cc = [] }) => [...to, ...cc]);
  const domains = recipients
    .flat()
    .map((address) => address.slice(address.lastIndexOf('@') + 1).toLowerCase());
  const [$prefix, $suffix] = [beginningOf({ packets }), endingOf({ packets })];
  const name = [$prefix, $suffix].flatMap((part) => part.trim() || []).join(' … ');
  return {
    name: `Mails like “${name}”`.slice(0, MAX_NAME),
    effect: 'allow',
    ...(teamId !== null && { teamId }),
    capos: [capo as 'capo_ops'],
    match: {
      actionTypes: ['email.send'],
      fields: {
        target: { $domainIn: [...new Set(domains)] },
        'params.subject': { $prefix, ...($suffix && { $suffix }) },
      },
    },
    limits: { maxPerHour: 1, maxRecipients: Math.max(...recipients.map(({ length }) => length)) },
  };
}

/** What the subjects share from their first letter on, up to a number, which differs from mail to mail; empty: too little. */
export function beginningOf(of: Pick<ApprovalView, 'packets'>): string {
  const subjects = subjectsOf(of);
  const shared = sharedStart(subjects);
  const fixed = shared.slice(0, shared.search(/\d|$/));
  const isWhole = subjects.every((one) => one === shared);
  const found =
    [fixed, shared].find((one) => one.trim().length >= LEAST_FIXED) ??
    (isWhole ? shared.trim() && shared : '');
  return found.slice(0, MAX_TEXT);
}

/** What the subjects share after the last number, where their beginning leaves any of them open; empty: nothing. */
export function endingOf(of: Pick<ApprovalView, 'packets'>): string {
  const subjects = subjectsOf(of);
  if (subjects.every((one) => one === beginningOf(of))) return '';
  const ending = reversed(sharedStart(subjects.map(reversed))).match(/\D*$/)![0];
  return ending.trim() && ending.slice(-MAX_TEXT);
}

const subjectsOf = ({ packets }: Pick<ApprovalView, 'packets'>) =>
  mailsOf(packets).map(({ subject = '' }) => subject);

const reversed = (text: string) => [...text].toReversed().join('');

function sharedStart(texts: string[]): string {
  const [first = [], ...others] = texts.map((text) => [...text]);
  const end = first.findIndex((letter, at) => others.some((one) => one[at] !== letter));
  return first.slice(0, end === -1 ? first.length : end).join('');
}
