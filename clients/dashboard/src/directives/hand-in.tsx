import type { BootstrapView, PreflightView, QueuedDirectiveBody } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { inNames } from '../ui/names.js';
import { useTyped } from '../ui/typed.js';

type Priority = NonNullable<QueuedDirectiveBody['priority']>;

const PRIORITIES: readonly Priority[] = ['high', 'medium', 'low'];
/** A pause in typing after which it is asked what would become of the text. */
const PAUSE_MS = 800;

/** Hands a directive in; what would become of it is shown while it is typed, before anything is sent. */
export function HandIn() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { typed, type, forget } = useTyped('hand-in');
  const text = typed['text'] ?? '';
  const priority = (typed['priority'] as Priority | undefined) ?? 'medium';
  const asks = typed['asks'] === 'yes';
  const me = useMe();
  const teams = me?.teams.filter(({ teamId }) => mayAct(me, 'operator', teamId)) ?? [];
  // Owner and admins hand in for the whole workspace unless they choose a team; others have to name one of several.
  const mayBeOfNone = me !== undefined && mayAct(me, 'admin');
  const isChoice = teams.length > 1 || (mayBeOfNone && teams.length > 0);
  const chosen = typed['team'] ?? (mayBeOfNone ? '' : teams[0]?.teamId);
  const team = isChoice && teams.some(({ teamId }) => teamId === chosen) ? { teamId: chosen! } : {};
  const forecast = useForecast(text, priority, team.teamId);
  const capo = !asks && forecast.data && mayGo(forecast.data, me) ? forecast.data.route.capo : null;
  const handIn = useMutation({
    mutationFn: async (): Promise<{ directiveId: string; approvalId: string | null }> =>
      // Only what the page has said may go by itself is left to the orders; that is handed to a capo by name.
      capo === null
        ? client.directives.queue({ text, priority, ...team })
        : client.directives.create({ directive: text, capo, priority, requiresApproval: false, ...team }),
    onSuccess: async ({ directiveId, approvalId }) => {
      forget();
      // The next one is for the same team, unless the person says so.
      if (typed['team'] !== undefined) type('team', typed['team']);
      await queries.invalidateQueries({ queryKey: ['directives'] });
      await (approvalId === null
        ? navigate({ to: '/directives/$directiveId', params: { directiveId } })
        : navigate({ to: '/approvals/$approvalId', params: { approvalId } }));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    handIn.mutate();
  };
  return (
    <form className="hand-in" onSubmit={submit}>
      <label>
        What should be done
        <textarea
          value={text}
          onChange={({ target }) => type('text', target.value)}
          maxLength={20_000}
          required
          placeholder={'Email jane@acme.example, subject "Your order": "It ships on Friday."'}
        />
      </label>
      {text.trim() && <Forecast forecast={forecast} asks={asks} />}
      {handIn.error && <Failure error={handIn.error} />}
      <div className="row">
        <button
          type="submit"
          className="primary"
          disabled={handIn.isPending || !text.trim() || (!asks && !forecast.data && !forecast.error)}
        >
          Hand in
        </button>
        <select
          aria-label="Priority"
          value={priority}
          onChange={({ target }) => type('priority', target.value)}
        >
          {PRIORITIES.map((one) => (
            <option key={one} value={one}>
              {one} priority
            </option>
          ))}
        </select>
        {isChoice && (
          <select aria-label="Team" value={chosen} onChange={({ target }) => type('team', target.value)}>
            {mayBeOfNone && <option value="">for no team: only owner and admins see it</option>}
            {teams.map(({ teamId, name }) => (
              <option key={teamId} value={teamId}>
                for the team {name}
              </option>
            ))}
          </select>
        )}
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={asks}
          onChange={({ target }) => type('asks', target.checked ? 'yes' : 'no')}
        />
        Ask a person even where a standing order would let it go
      </label>
    </form>
  );
}

/** What becomes of it where a person approves it in any case; a denial is none that they could approve. */
const ASKS: Record<PreflightView['outcome'], string> = {
  allow: 'You are asked before it leaves, as the box below says. Without it, nobody would be.',
  require_approval: 'You are asked before it leaves.',
  throttle: 'You are asked before it leaves, and a limit delays it.',
  deny: 'A rule forbids it: it would not be sent.',
  halted: 'Everything is stopped: nothing is drafted until an admin ends the stop.',
};
/** And where the standing orders decide. */
const DECIDED = {
  ...ASKS,
  allow: 'Nobody is asked: it goes by itself, as a standing order says.',
  throttle: 'Nobody is asked: it goes by itself, as a standing order says, once a limit has room for it.',
};

/**
 * Whether standing orders may let it go: the forecast says that they do, or a model drafts it, and the forecast knows only what the
 * built-in rules would draft. Otherwise a person is asked anyway, who is then shown the approval at once.
 */
function mayGo({ outcome }: PreflightView, me: BootstrapView | undefined): boolean {
  return outcome === 'allow' || outcome === 'throttle' || (outcome === 'require_approval' && isGuess(me));
}

function isGuess(me: BootstrapView | undefined): boolean {
  return me?.features.model === true;
}

/** Who would draft it, whether it would ask, and what is missing (`POST /guardian/preflight`, which stores nothing that acts). */
function useForecast(
  text: string,
  priority: Priority,
  teamId: string | undefined,
): UseQueryResult<PreflightView> {
  const directive = text.trim();
  const isSettled = useSettled(directive) === directive;
  return useQuery({
    // That of another text is never shown.
    queryKey: ['preflight', directive, priority, teamId],
    queryFn: ({ signal }) =>
      client.guardian.preflight({ directive, priority, ...(teamId && { teamId }) }, { signal }),
    enabled: directive !== '' && isSettled,
    staleTime: Infinity,
  });
}

function Forecast({ forecast, asks }: { forecast: UseQueryResult<PreflightView>; asks: boolean }) {
  const me = useMe();
  if (forecast.error)
    return (
      <>
        <Failure error={forecast.error} onRetry={() => void forecast.refetch()} />
        <p className="quiet">Without a forecast, you are asked before it leaves.</p>
      </>
    );
  if (!forecast.data) return <p className="quiet">Checking what will happen.</p>;
  const { route, explanation, warnings, packets, outcome, approval } = forecast.data;
  const drafter = me?.capos.find(({ role }) => role === route.capo);
  const missing = [...new Set(packets.flatMap(({ needsInput }) => needsInput.map(inNames)))];
  return (
    <div className="forecast" aria-live="polite">
      <p>
        {drafter === undefined
          ? (route.capo ?? 'Nobody')
          : `${drafter.name}, one of the capos (the built-in assistants),`}{' '}
        drafts it: {packets.map(({ title }) => title).join('; ') || 'nothing that would leave'}.
      </p>
      <p>
        {(asks ? ASKS : DECIDED)[outcome]}
        {!asks &&
          outcome === 'require_approval' &&
          isGuess(me) &&
          ' If a standing order allows what the model drafts, it goes by itself all the same.'}
        {approval && approval.quorum > 1 && ` ${approval.quorum} people have to approve it.`}
        {approval &&
          approval.approvers.map(({ name }) => ` The standing order “${name}” says who may approve it.`)}
      </p>
      {missing.length > 0 && <p>You are asked for what is missing: {missing.join(', ')}.</p>}
      {/* The box below says it already. */}
      {[...warnings.filter((one) => !one.includes('requiresApproval')), ...explanation].map((sentence) => (
        <p key={sentence} className="quiet">
          {inNames(sentence)}
        </p>
      ))}
    </div>
  );
}

/** The text as it is after a pause in typing. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
