import type { EscalationView } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Csv } from '../ui/csv.js';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { Loaded, Rows } from '../ui/list.js';
import { Time } from '../ui/time.js';
import { useTyped } from '../ui/typed.js';
import { SubjectLink } from './subject-link.js';
import { useEscalations } from './use-escalations.js';

/** What went wrong or is about to, and what a person can do about each. */
export function Escalations() {
  const escalations = useEscalations();
  return (
    <div className="page">
      <h1>Escalations</h1>
      <Loaded query={escalations}>
        {({ items }) => (
          <Rows
            items={items}
            empty="Nothing went wrong. What could not be done, failed, or ran out of time appears here."
          >
            {(escalation) => <Escalation key={escalation.escalationId} escalation={escalation} />}
          </Rows>
        )}
      </Loaded>
      <Csv
        name="escalations"
        total={escalations.data?.total}
        list={(page) => client.escalations.list({ status: 'open', ...page })}
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
