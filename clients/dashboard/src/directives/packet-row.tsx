import type { WorkPacketSummary } from '@consigliere/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { textsOf } from '../ui/texts-of.js';
import { Time } from '../ui/time.js';

/** What nothing can undo, or need not be undone. */
const LASTING = new Set(['read_only', 'irreversible']);

/** One work packet, and the way to undo it. */
export function PacketRow({ packet }: { packet: WorkPacketSummary }) {
  const { title, status, executedAt, reversibility, teamId } = packet;
  const me = useMe();
  const [isOpen, setOpen] = useState(false);
  const canBeUndone = status === 'executed' && !LASTING.has(reversibility) && mayAct(me, 'admin', teamId);
  return (
    <li>
      <span className="title">{title}</span>
      <span className="facts">
        <span className={`status ${status}`}>{status.replaceAll('_', ' ')}</span>
        {executedAt !== null && <Time at={executedAt} />}
      </span>
      {canBeUndone && (
        <button type="button" aria-label={`Undo ${title}`} onClick={() => setOpen(true)}>
          Undo
        </button>
      )}
      <Undo packet={packet} isOpen={isOpen} setOpen={setOpen} />
    </li>
  );
}

function Undo({
  packet: { workPacketId, directiveId, title },
  isOpen,
  setOpen,
}: {
  packet: WorkPacketSummary;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
}) {
  const queries = useQueryClient();
  const undo = useMutation({
    mutationFn: (reason: string) => client.workPackets.undo(workPacketId, { reason }),
    onSuccess: () => {
      setOpen(false);
      return queries.invalidateQueries({ queryKey: ['directive', directiveId] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    undo.mutate(textsOf(event.currentTarget)['reason']!);
  };
  return (
    <Dialog title="Undo" description={title} isOpen={isOpen} setOpen={setOpen}>
      <form onSubmit={submit}>
        <label>
          Why
          <input name="reason" required maxLength={1_000} />
        </label>
        {undo.error && <Failure error={undo.error} />}
        <div className="row">
          <button type="submit" className="danger" disabled={undo.isPending}>
            Undo
          </button>
          <button type="button" onClick={() => setOpen(false)}>
            Back
          </button>
        </div>
      </form>
    </Dialog>
  );
}
