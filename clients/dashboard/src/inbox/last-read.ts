import type { ApprovalView } from '@consigliere/sdk';

/** As many are remembered, the last ones. */
const MOST = 200;

const keyOf = (memberId: string) => `read:${memberId}`;

function remembered(memberId: string): [approvalId: string, contentHash: string][] {
  return JSON.parse(localStorage.getItem(keyOf(memberId)) ?? '[]') as [string, string][];
}

/** Keeps which content a person has read, in this browser: its hash alone. */
export function rememberRead(memberId: string, { approvalId, contentHash }: ApprovalView): void {
  if (contentHash === null) return;
  const others = remembered(memberId).filter(([id]) => id !== approvalId);
  localStorage.setItem(keyOf(memberId), JSON.stringify([...others, [approvalId, contentHash]].slice(-MOST)));
}

/** The approval as this person has read it last, made of what its revisions changed; as it is where they have not read it. */
export function asLastRead(memberId: string, approval: ApprovalView): ApprovalView {
  const { revisions } = approval;
  const [, contentHash] = remembered(memberId).find(([id]) => id === approval.approvalId) ?? [];
  const at = revisions.findIndex((revision) => revision.contentHash === contentHash);
  if (contentHash === undefined || at < 0) return approval;
  const packets = revisions.slice(at + 1).reduceRight(
    (after, { changes }) =>
      after.flatMap((packet) => {
        const change = changes.find(({ workPacketId }) => workPacketId === packet.workPacketId);
        if (change?.change === 'added') return [];
        const { params: whole, ...parts } = change?.before ?? {};
        const before = Object.entries(parts).map(([path, value]) => [path.replace('params.', ''), value]);
        const params = {
          ...((whole as object) ?? packet.action.params),
          ...(Object.fromEntries(before) as object),
        };
        return [{ ...packet, action: { ...packet.action, params } }];
      }),
    approval.packets,
  );
  return { ...approval, packets, contentHash };
}
