import type { ApprovalView } from '@consigliere/sdk';
import { fieldsOf } from './edits.js';
import { WordDiff } from './word-diff.js';

/** What somebody else has changed since it was read. Nothing is decided before the reader has seen it. */
export function Changed({
  before,
  now,
  onRead,
}: {
  before: ApprovalView;
  now: ApprovalView;
  onRead: () => void;
}) {
  const by = now.revisions.at(-1)?.by.name ?? 'Somebody';
  const changes = changesOf(before, now);
  const at = now.revisions.findIndex(({ contentHash }) => contentHash === before.contentHash);
  const removed = now.revisions.slice(at + 1).flatMap((revision) => revision.changes);
  const isRemoved = removed.some(({ change }) => change === 'removed');
  return (
    <section className="changed" role="alert" aria-label="Changed meanwhile">
      <p>{by} changed this since you read it. What you typed is kept.</p>
      {isRemoved && <p>A part of the draft was removed. Only what is shown below would be done.</p>}
      <dl>
        {changes.map(({ label, was, is }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <WordDiff before={was} after={is} />
            </dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={onRead}>
        I have read the changes
      </button>
    </section>
  );
}

function changesOf(before: ApprovalView, now: ApprovalView) {
  const was = textsOf(before);
  const is = textsOf(now);
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((id) => {
    const [old, present] = [was.get(id), is.get(id)];
    if (old?.value === present?.value) return [];
    return [{ label: (present ?? old)!.label, was: old?.value ?? '', is: present?.value ?? '' }];
  });
}

function textsOf({ kind, packets, output }: ApprovalView): Map<string, { label: string; value: string }> {
  if (packets.length === 0 && output) return new Map([['body', { label: 'Text', value: output.body }]]);
  return new Map(
    packets.flatMap((packet) =>
      fieldsOf(packet, kind).map(({ id, label, value, type }) => [
        // Of another type it is another value, though it reads the same.
        `${id} ${type ?? ''}`,
        { label: packets.length > 1 ? `${packet.title}: ${label}` : label, value },
      ]),
    ),
  );
}
