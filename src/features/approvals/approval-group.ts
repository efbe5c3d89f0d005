import { sha256 } from '../../platform/kernel/canonical-json.js';
import { domainsIn } from '../standing-orders/index.js';
import type { CapoRole, Risk } from '../terms/index.js';
import type { ApprovalPacket } from './approval.entity.js';

/** A key is read by people, so it names what it can; one that would be longer is a hash. */
export const LONGEST_GROUP_KEY = 200;

/**
 * What can be decided together has one key: the same capo, action types, domains that are written to (or whatever else is acted
 * upon), and risk. Null for a draft without work packets: each is a text of its own.
 */
export function groupKeyOf({
  capo,
  risk,
  packets,
}: {
  capo: CapoRole | null;
  risk: Risk;
  packets: readonly Pick<ApprovalPacket, 'action'>[];
}): string | null {
  if (capo === null || packets.length === 0) return null;
  const types = inOrder(packets.map(({ action }) => action.type));
  const targets = inOrder(packets.flatMap(({ action }) => targetsOf(action)));
  const key = [capo, types, targets, risk].join(' ');
  return key.length <= LONGEST_GROUP_KEY ? key : `${capo} sha256:${sha256(key)} ${risk}`;
}

/** The domains of addresses; of an action that writes to nobody what it names, without what only words it. */
function targetsOf({ type, target }: ApprovalPacket['action']): string[] {
  if (target === null) return ['-'];
  if (type === 'document.file' || type === 'revenue.record') return ['-'];
  const domains = target.includes('@') || /^https?:/i.test(target) ? domainsIn(target) : [];
  if (domains.length > 0) return domains.map((domain) => domain ?? '?');
  return [target.replaceAll(/\s+/g, '_')];
}

function inOrder(texts: readonly string[]): string {
  return [...new Set(texts)].toSorted().join('+');
}
