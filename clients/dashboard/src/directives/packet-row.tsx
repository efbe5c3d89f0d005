import type { WorkPacketSummary } from '@consigliere/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { ReasonDialog } from '../ui/reason-dialog.js';
import { stateOf } from '../ui/states.js';
import { Time } from '../ui/time.js';

/** What nothing can undo, or need not be undone. */
const LASTING = new Set(['read_only', 'irreversible']);

/** One work packet, and the way to undo it. */
export function PacketRow({ packet }: { packet: WorkPacketSummary }) {
  const { workPacketId, directiveId, title, status, executedAt, reversibility, teamId } = packet;
  const queries = useQueryClient();
  const me = useMe();
  const [isOpen, setOpen] = useState(false);
  const canBeUndone = status === 'executed' && !LASTING.has(reversibility) && mayAct(me, 'admin', teamId);
  return (
    <li>
      <span className="title">{title}</span>
      <span className="facts">
        <span className={`status ${status}`}>{stateOf(status)}</span>
        {executedAt !== null && <Time at={executedAt} />}
      </span>
      {canBeUndone && (
        <button type="button" aria-label={`Undo ${title}`} onClick={() => setOpen(true)}>
          Undo
        </button>
      )}
      <ReasonDialog
        about={`undo ${workPacketId}`}
        title="Undo"
        description={title}
        verb="Undo"
        isReasonRequired
        isOpen={isOpen}
        setOpen={setOpen}
        act={(reason) => client.workPackets.undo(workPacketId, { reason })}
        onDone={() => queries.invalidateQueries({ queryKey: ['directive', directiveId] })}
      />
    </li>
  );
}
