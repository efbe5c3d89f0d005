import type { TokenView } from '@consigliere/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { admin } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { Time } from '../ui/time.js';
import type { Shown } from './shown-token.js';

const ACTS = {
  pause: 'It does not work until it is resumed.',
  resume: 'It can be used again.',
  rotate: 'A new token replaces it; this one stops working at once.',
  revoke: 'It stops working at once, for good.',
} as const;
type Act = keyof typeof ACTS;

/** A token: whose it is, what it may do, when it was used, and the ways to end it. */
export function TokenRow({ token, onMade }: { token: TokenView; onMade: (shown: Shown) => void }) {
  const { name, memberName, hint, agent, tools, scopes, lastUsedAt, expiresAt, revokedAt, pausedAt } = token;
  const [act, setAct] = useState<Act>();
  const acts: Act[] = revokedAt !== null ? [] : [pausedAt === null ? 'pause' : 'resume', 'rotate', 'revoke'];
  return (
    <li>
      <span className="title">{name}</span>
      <span className="facts">
        <span>ends in {hint}</span>
        <span>{memberName}</span>
        {agent && <span>agent {agent.name}</span>}
        {tools && <span>tools {tools.join(', ')}</span>}
        <span>{scopes ? scopes.join(', ') : 'all rights of the member'}</span>
        <span>
          {lastUsedAt === null ? (
            'never used'
          ) : (
            <>
              used <Time at={lastUsedAt} />
            </>
          )}
        </span>
        {expiresAt !== null && (
          <span>
            until <Time at={expiresAt} />
          </span>
        )}
        {pausedAt !== null && <span className="urgent">paused</span>}
        {revokedAt !== null && <span className="urgent">revoked</span>}
      </span>
      <div className="row">
        {acts.map((one) => (
          <button key={one} type="button" aria-label={`${wordOf(one)} ${name}`} onClick={() => setAct(one)}>
            {wordOf(one)}
          </button>
        ))}
      </div>
      {act && <Confirm token={token} act={act} close={() => setAct(undefined)} onMade={onMade} />}
    </li>
  );
}

function Confirm({
  token: { tokenId, name },
  act,
  close,
  onMade,
}: {
  token: TokenView;
  act: Act;
  close: () => void;
  onMade: (shown: Shown) => void;
}) {
  const queries = useQueryClient();
  const perform = useMutation({
    mutationFn: async () => {
      if (act !== 'rotate') return void (await admin.tokens[act](tokenId));
      const made = await admin.tokens.rotate(tokenId);
      onMade({ token: made.token, isAgent: made.agent !== null });
    },
    onSuccess: async () => {
      close();
      await queries.invalidateQueries({ queryKey: ['tokens'] });
    },
  });
  return (
    <Dialog title={`${wordOf(act)} ${name}`} description={ACTS[act]} isOpen setOpen={close}>
      {perform.error && <Failure error={perform.error} />}
      <div className="row">
        <button
          type="button"
          className={act === 'resume' ? 'primary' : 'danger'}
          disabled={perform.isPending}
          onClick={() => perform.mutate()}
        >
          {wordOf(act)}
        </button>
        <button type="button" onClick={close}>
          Back
        </button>
      </div>
    </Dialog>
  );
}

function wordOf(act: Act): string {
  return act.charAt(0).toUpperCase() + act.slice(1);
}
