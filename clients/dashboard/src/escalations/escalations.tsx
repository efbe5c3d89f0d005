import type { EscalationView } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Csv } from '../ui/csv.js';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { Loaded, Rows } from '../ui/list.js';
import { PAGE, Pages } from '../ui/pages.js';
import { Time } from '../ui/time.js';
import { useTyped } from '../ui/typed.js';
import { SubjectLink } from './subject-link.js';

const STATUSES = {
  open: 'Open',
  resolved: 'Resolved',
  dismissed: 'Dismissed',
} as const satisfies Record<EscalationView['status'], string>;
type Status = keyof typeof STATUSES;

/** What went wrong or is about to, and what a person can do about each. */
export function Escalations() {
  const navigate = useNavigate();
  const search = useSearch({ strict: false });
  const { page = 1, team } = search;
  const status = (Object.keys(STATUSES) as Status[]).find((one) => one === search.status) ?? 'open';
  const me = useMe();
  const escalations = useQuery({
    queryKey: ['escalations', status, team, page],
    queryFn: () =>
      client.escalations.list({
        status,
        limit: PAGE,
        offset: (page - 1) * PAGE,
        ...(team && { teamId: team }),
      }),
  });
  const show = (narrowed: { status?: string; team?: string | undefined }) => {
    const { status: to = status, team: of } = { team, ...narrowed };
    void navigate({
      to: '/escalations',
      search: { ...(to !== 'open' && { status: to }), ...(of && { team: of }) },
    });
  };
  return (
    <div className="page">
      <h1>Escalations</h1>
      <div className="row">
        <select
          aria-label="Show"
          value={status}
          onChange={({ target: { value } }) => show({ status: value })}
        >
          {Object.entries(STATUSES).map(([one, words]) => (
            <option key={one} value={one}>
              {words}
            </option>
          ))}
        </select>
        {me && me.teams.length > 0 && (
          <select
            aria-label="Team"
            value={team ?? ''}
            onChange={({ target: { value } }) => show({ team: value })}
          >
            <option value="">All teams</option>
            {me.teams.map(({ teamId, name }) => (
              <option key={teamId} value={teamId}>
                {name}
              </option>
            ))}
          </select>
        )}
      </div>
      <Loaded query={escalations}>
        {({ items, total }) => (
          <>
            <Rows
              items={items}
              empty={
                status === 'open'
                  ? 'Nothing went wrong. What could not be done, failed, or ran out of time appears here.'
                  : `No escalation is ${status}.`
              }
            >
              {(escalation) => <Escalation key={escalation.escalationId} escalation={escalation} />}
            </Rows>
            <Pages search={search} total={total} />
          </>
        )}
      </Loaded>
      <Csv
        name="escalations"
        total={escalations.data?.total}
        list={(rows) => client.escalations.list({ status, ...(team && { teamId: team }), ...rows })}
      />
    </div>
  );
}

/** One of them, as a mail leads to it. */
export function EscalationPage() {
  const { escalationId } = useParams({ from: '/escalations/$escalationId' });
  const escalation = useQuery({
    queryKey: ['escalations', escalationId],
    queryFn: () => client.escalations.get(escalationId),
  });
  return (
    <div className="page">
      <h1>Escalation</h1>
      <Loaded query={escalation}>
        {(data) => (
          <ul className="rows">
            <Escalation escalation={data} />
          </ul>
        )}
      </Loaded>
      <p>
        <Link to="/escalations">All escalations</Link>
      </p>
    </div>
  );
}

function Escalation({ escalation }: { escalation: EscalationView }) {
  const { reason, kind, status, count, dueAt, createdAt, choices, teamId, decision, decidedBy } = escalation;
  const me = useMe();
  const [option, setOption] = useState<string>();
  return (
    <li>
      <span className="title">{reason}</span>
      <span className="facts">
        <span>{kind.replaceAll('_', ' ')}</span>
        {count > 1 && <span>{count} times</span>}
        <span>
          since <Time at={createdAt} />
        </span>
        {dueAt !== null && status === 'open' && (
          <span className="urgent">
            until <Time at={dueAt} />
          </span>
        )}
        {status !== 'open' && (
          <span>
            {status}
            {decidedBy && ` by ${decidedBy.name}`}
            {decision && `: ${wordsOf(decision)}`}
          </span>
        )}
        <SubjectLink escalation={escalation} />
      </span>
      <div className="row">
        {choices
          .filter(({ role }) => status === 'open' && mayAct(me, role, teamId))
          .map((choice) => (
            <button key={choice.option} type="button" onClick={() => setOption(choice.option)}>
              {wordsOf(choice.option)}
            </button>
          ))}
      </div>
      {option !== undefined && (
        <Choice escalation={escalation} option={option} close={() => setOption(undefined)} />
      )}
    </li>
  );
}

/** What the option does, before it is chosen. */
function Choice({
  escalation: { escalationId, choices, reason },
  option,
  close,
}: {
  escalation: EscalationView;
  option: string;
  close: () => void;
}) {
  const queries = useQueryClient();
  const { typed, type, forget } = useTyped(`escalation:${escalationId}`);
  const note = typed['note'] ?? '';
  const decide = useMutation({
    mutationFn: () =>
      client.escalations.decide({ escalationId, decision: option, ...(note.trim() && { note }) }),
    onSuccess: async () => {
      forget();
      close();
      await queries.invalidateQueries({ queryKey: ['escalations'] });
    },
  });
  const effect = choices.find((choice) => choice.option === option)?.effect ?? '';
  return (
    <Dialog title={wordsOf(option)} description={effect} isOpen setOpen={close}>
      <p className="quiet">{reason}</p>
      <label>
        Why
        <textarea value={note} onChange={({ target }) => type('note', target.value)} maxLength={1_000} />
      </label>
      {decide.error && <Failure error={decide.error} />}
      <div className="row">
        <button type="button" className="primary" disabled={decide.isPending} onClick={() => decide.mutate()}>
          {wordsOf(option)}
        </button>
        <button type="button" onClick={close}>
          Back
        </button>
      </div>
    </Dialog>
  );
}

function wordsOf(option: string): string {
  const words = option.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
