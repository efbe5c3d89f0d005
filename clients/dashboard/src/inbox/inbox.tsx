import type { ApprovalSummary } from '@consigliere/sdk';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { memo, useCallback, useEffect, useState } from 'react';
import { useEscalationCount } from '../escalations/use-escalations.js';
import { mayAct, useCapoNames, useMe } from '../me.js';
import { client } from '../session.js';
import { Csv } from '../ui/csv.js';
import { Failure } from '../ui/failure.js';
import { Time } from '../ui/time.js';
import { ApprovalPage } from './approval-page.js';
import { canBeChosen, DecideMany } from './decide-many.js';
import { KeysDialog, useKeys } from './keys.js';
import { useSnoozes } from './snooze.js';
import { PAGE, useWaiting, useWaitingCount } from './use-waiting.js';

const GROUPS = [
  {
    title: 'Needs your text',
    holds: ({ inputsNeeded, ready }: ApprovalSummary) => ready && inputsNeeded > 0,
  },
  { title: 'Questions', holds: ({ kind }: ApprovalSummary) => kind === 'question' },
  { title: 'To decide', holds: ({ ready }: ApprovalSummary) => ready },
  { title: 'Being drafted', holds: () => true },
] as const;
const RISKS = ['critical', 'high', 'medium', 'low'];
const NONE: readonly string[] = [];
/** In which order the rows of a group stand; the first one unless the address names another. */
const SORTS = {
  risk: { words: 'Most dangerous first', compare: byRisk },
  deadline: { words: 'First deadline first', compare: byDeadline },
  newest: { words: 'Newest first', compare: byAge },
} as const;
type Sort = keyof typeof SORTS;
/** As many as one request decides. */
const MOST_AT_ONCE = 100;

/** What waits for a person, and the one that is open. */
export function Inbox() {
  const { approvalId } = useParams({ strict: false });
  const navigate = useNavigate();
  const me = useMe();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const waiting = useWaiting();
  const stuck = useEscalationCount();
  const snoozes = useSnoozes();
  const { page = 1, ...search } = useSearch({ strict: false });
  const sort = (Object.keys(SORTS) as Sort[]).find((one) => one === search.sort) ?? 'risk';
  const pages = waiting.data?.pages ?? [];
  const { groups, items, snoozed } = grouped(pages, snoozes, sort);
  const known = items.length + snoozed.length;
  const total = Math.max(known, useWaitingCount());
  const { hasNextPage, isFetchNextPageError, fetchNextPage } = waiting;
  const isIdle = waiting.fetchStatus === 'idle';
  // As many pages are read as the address says, after a reload too; and the next one where nothing is left of those.
  const readsOn = hasNextPage && isIdle && !isFetchNextPageError && (pages.length < page || known === 0);
  useEffect(() => {
    if (readsOn) void fetchNextPage();
  }, [readsOn, fetchNextPage]);
  const choose = useCallback(
    (ids: readonly string[], isChosen: boolean) =>
      setChosen((before) => {
        const after = new Set(before);
        for (const id of ids)
          if (isChosen) after.add(id);
          else after.delete(id);
        return after;
      }),
    [],
  );
  useKeys((key) => {
    const at = items.findIndex((one) => one.approvalId === approvalId);
    const open = (one: ApprovalSummary | undefined) =>
      one &&
      void navigate({ to: '/approvals/$approvalId', params: { approvalId: one.approvalId }, search: true });
    if (key === 'j' || (key === 'Enter' && at < 0)) open(items[at + 1]);
    else if (key === 'k') open(items[at - 1]);
    else if (key === 'x' && items[at] && canBeChosen(items[at]))
      choose([approvalId!], !chosen.has(approvalId!));
    else if (key === 'Escape' && approvalId) void navigate({ to: '/', search: true });
  });
  if (!waiting.data && waiting.error)
    return <Failure error={waiting.error} onRetry={() => void waiting.refetch()} />;
  if (!waiting.data) return <p className="empty">Loading what waits for you.</p>;
  const both = items.filter((one) => chosen.has(one.approvalId)).slice(0, MOST_AT_ONCE);
  return (
    <div className={approvalId ? 'inbox open' : 'inbox'}>
      <section className="queue" aria-label="Inbox">
        <h1>
          Inbox <span className="count">{total}</span> <KeysDialog />
        </h1>
        <DecideMany chosen={both} clear={() => setChosen(new Set())} />
        {stuck > 0 && (
          <Link to="/escalations" className="stuck">
            Could not be done <span className="count">{stuck}</span>
          </Link>
        )}
        {total > 1 && (
          <select
            aria-label="Order"
            value={sort}
            onChange={({ target: { value } }) =>
              void navigate({
                to: '.',
                search: ({ sort: _before, ...others }) => ({
                  ...others,
                  ...(value !== 'risk' && { sort: value }),
                }),
              })
            }
          >
            {Object.entries(SORTS).map(([one, { words }]) => (
              <option key={one} value={one}>
                {words}
              </option>
            ))}
          </select>
        )}
        {pages.length > 1 && waiting.isStale && (
          <button type="button" disabled={!isIdle} onClick={() => void waiting.refetch()}>
            There are newer ones: show them
          </button>
        )}
        {known === 0 && !hasNextPage && (
          <p className="empty">
            Nothing waits for you. Drafts of the capos, the built-in assistants, appear here.
          </p>
        )}
        {groups.map(
          ({ title, items: own }) =>
            own.length > 0 && (
              <section key={title}>
                <h2>
                  {title} <span className="count">{own.length}</span>
                </h2>
                <ul>
                  {own.map((one) => (
                    <Row
                      key={one.approvalId}
                      approval={one}
                      isChosen={chosen.has(one.approvalId)}
                      like={chosen.has(one.approvalId) ? likeThis(items, one) : NONE}
                      choose={mayAct(me, 'operator', one.teamId) ? choose : undefined}
                    />
                  ))}
                </ul>
              </section>
            ),
        )}
        <Csv name="approvals" total={total} list={(rows) => client.approvals.list(rows)} />
        {snoozed.length > 0 && (
          <details>
            <summary>
              Snoozed <span className="count">{snoozed.length}</span>
            </summary>
            <ul>
              {snoozed.map((one) => (
                <Row key={one.approvalId} approval={one} back={snoozes.until(one)} />
              ))}
            </ul>
          </details>
        )}
        {isFetchNextPageError && <Failure error={waiting.error!} onRetry={() => void fetchNextPage()} />}
        {hasNextPage && !isFetchNextPageError && (
          <button
            type="button"
            disabled={!isIdle}
            onClick={() =>
              void navigate({
                to: '.',
                search: (before) => ({ ...before, page: pages.length + 1 }),
                resetScroll: false,
              })
            }
          >
            Show {Math.min(PAGE, total - known) || ''} more of {total}
          </button>
        )}
      </section>
      <section className="reading" aria-label="Open approval">
        {approvalId && (
          <Link to="/" search className="back">
            Back to the inbox
          </Link>
        )}
        {approvalId ? (
          <ApprovalPage key={approvalId} approvalId={approvalId} next={nextOf(items, approvalId)} />
        ) : (
          total > 0 && <p className="empty">Choose one to read it.</p>
        )}
      </section>
    </div>
  );
}

const Row = memo(function Row({
  approval,
  isChosen = false,
  like = [],
  choose,
  back,
}: {
  approval: ApprovalSummary;
  isChosen?: boolean;
  like?: readonly string[];
  choose?: ((ids: readonly string[], isChosen: boolean) => void) | undefined;
  /** When a snoozed one comes back. */
  back?: number | undefined;
}) {
  const { approvalId, kind, title, summary, risk, urgent, agent, capo, requestedBy, expiresAt, votes } =
    approval;
  const capoName = useCapoNames();
  return (
    <li>
      {choose && canBeChosen(approval) && (
        <input
          type="checkbox"
          aria-label={`Choose ${title}`}
          checked={isChosen}
          onChange={({ target }) => choose([approvalId], target.checked)}
        />
      )}
      <div>
        <Link
          to="/approvals/$approvalId"
          params={{ approvalId }}
          search
          activeProps={{ 'aria-current': 'true' }}
        >
          <span className="title">{title}</span>
          {(kind === 'question' || kind === 'output') && <span>{summary}</span>}
          <span className="facts">
            <span className={`risk ${risk}`}>{risk}</span>
            {urgent && <span className="urgent">urgent</span>}
            <span>{agent?.name ?? (capo === null ? requestedBy.name : capoName(capo))}</span>
            {votes.need > 1 && (
              <span>
                {votes.have} of {votes.need} votes
              </span>
            )}
            <span>
              {back === undefined ? 'until' : 'back at'} <Time at={back ?? expiresAt} />
            </span>
          </span>
        </Link>
        {isChosen && choose && like.length > 1 && (
          <button type="button" onClick={() => choose(like, true)}>
            Choose all {like.length} like this
          </button>
        )}
      </div>
    </li>
  );
});

/** Those that can be decided with it. */
function likeThis(items: readonly ApprovalSummary[], { groupKey }: ApprovalSummary): string[] {
  if (groupKey === null) return [];
  return items
    .filter((one) => one.groupKey === groupKey && canBeChosen(one))
    .map(({ approvalId }) => approvalId);
}

/** The most dangerous first, and of those the one that ends first. */
function byRisk(a: ApprovalSummary, b: ApprovalSummary): number {
  return RISKS.indexOf(a.risk) - RISKS.indexOf(b.risk) || byDeadline(a, b);
}

function byDeadline(a: ApprovalSummary, b: ApprovalSummary): number {
  return a.expiresAt - b.expiresAt;
}

function byAge(a: ApprovalSummary, b: ApprovalSummary): number {
  return b.requestedAt - a.requestedAt;
}

/** Each approval once, in the first group that holds it; those that are put off apart. */
function grouped(
  pages: readonly { items: ApprovalSummary[] }[],
  snoozes: ReturnType<typeof useSnoozes>,
  sort: Sort,
) {
  // One that has become urgent between two pages stands in both.
  const all = new Map(pages.flatMap(({ items }) => items).map((one) => [one.approvalId, one]));
  const byGroup = Object.groupBy([...all.values()].toSorted(SORTS[sort].compare), (one) =>
    snoozes.until(one) === undefined ? GROUPS.find(({ holds }) => holds(one))!.title : 'Snoozed',
  );
  const groups = GROUPS.map(({ title }) => ({ title, items: byGroup[title] ?? [] }));
  return { groups, items: groups.flatMap((group) => group.items), snoozed: byGroup.Snoozed ?? [] };
}

/** The one to read after a decision. */
function nextOf(items: readonly ApprovalSummary[], approvalId: string): string | undefined {
  const at = items.findIndex((approval) => approval.approvalId === approvalId);
  return (items[at + 1] ?? items[at - 1])?.approvalId;
}
