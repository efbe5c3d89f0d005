import { counted } from '../../platform/kernel/text.js';
import type { NewReceipt } from '../../platform/receipts/receipts.js';
import type { Message } from './notice-source.js';
import type { NotificationEntity, NotificationKind } from './notification.entity.js';

/** So many ids stand in the receipt of a mail about many. */
const IDS_IN_RECEIPT = 50;

/** What the receipt of a mail says: who was mailed about what. */
export type MailReceipt = Pick<NewReceipt, 'entity'> &
  Partial<Pick<NewReceipt, 'teamId' | 'directiveId' | 'details'>> & { name: string; what: string };

type About = Pick<NotificationEntity, 'kind' | 'entityId'>;

const ENTITY_TYPES: Record<NotificationKind, string> = {
  approval: 'approval',
  escalation: 'escalation',
  failure: 'directive',
  kill: 'receipt',
};

export function entityOf(kind: NotificationKind, id: string): NewReceipt['entity'] {
  return { type: ENTITY_TYPES[kind], id };
}

/** Of a mail about one thing. */
export function receiptOfMessage(
  { memberId, name }: { memberId: string; name: string },
  { kind, entityId, teamId, revision }: Pick<NotificationEntity, 'kind' | 'entityId' | 'teamId' | 'revision'>,
  { title, directiveId }: Message['about'],
): MailReceipt {
  return {
    entity: entityOf(kind, entityId),
    teamId,
    directiveId,
    name,
    what: `"${title}"`,
    details: { memberId, revision },
  };
}

/** Of a mail about many, or of none since it could not be made. */
export function receiptOfMany(
  { memberId, name }: { memberId: string; name: string },
  about: readonly About[],
): MailReceipt {
  const ids = (kind: NotificationKind) =>
    about
      .filter((one) => one.kind === kind)
      .slice(0, IDS_IN_RECEIPT)
      .map(({ entityId }) => entityId);
  return {
    entity: { type: 'member', id: memberId },
    name,
    what: whatIn(about),
    details: {
      memberId,
      approvalIds: ids('approval'),
      escalationIds: ids('escalation'),
      failedDirectiveIds: ids('failure'),
      total: about.length,
    },
  };
}

function whatIn(about: readonly About[]): string {
  const failed = about.filter(({ kind }) => kind === 'failure').length;
  const waiting = about.length - failed;
  return [
    ...(waiting === 1 ? ['a decision that waits'] : waiting > 1 ? [`${waiting} decisions that wait`] : []),
    ...(failed > 0 ? [`${counted(failed, 'directive')} that failed`] : []),
  ].join(' and ');
}
