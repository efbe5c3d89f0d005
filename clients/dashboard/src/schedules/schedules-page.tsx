import type { BootstrapView, DirectiveSummary, ScheduleSummary } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { mayAct, mayActSomewhere, useMe } from '../me.js';
import { client } from '../session.js';
import { Act } from '../ui/act.js';
import { Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { stateOf } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { tell } from '../ui/told.js';
import { inWords } from './rule.js';
import { bodyOf, ScheduleFields } from './schedule-fields.js';

const STALE = ['schedule', 'one_schedule'] as const;

/** What is handed in again and again by itself. */
export function SchedulesPage() {
  const me = useMe();
  if (!me) return <p className="empty">Loading.</p>;
  return (
    <div className="page">
      <h1>Schedules</h1>
      {mayActSomewhere(me, 'operator') ? (
        <details>
          <summary>Make a schedule</summary>
          <Form
            about="schedule"
            verb="Make the schedule"
            act={(texts) => client.schedules.create(bodyOf(texts))}
            stale={STALE}
            onDone={(made) => tell(`Made: ${made.name}, ${inWords(made.rule)}`)}
          >
            <ScheduleFields me={me} />
          </Form>
        </details>
      ) : (
        <p className="quiet">Operators make schedules.</p>
      )}
      <Listing<ScheduleSummary>
        queryKey={['schedule']}
        list={(page) => client.schedules.list(page)}
        empty="No schedule yet. One hands in the same work each day, week or month, such as a memo each Monday."
      >
        {(schedule) => <Schedule key={schedule.scheduleId} me={me} schedule={schedule} />}
      </Listing>
    </div>
  );
}

function Schedule({ me, schedule }: { me: BootstrapView; schedule: ScheduleSummary }) {
  const { scheduleId, name, title, rule, status, pausedReason, nextRunAt, teamId, owner } = schedule;
  const [isOpen, setOpen] = useState(false);
  const mayChange = mayAct(me, 'operator', teamId);
  return (
    <li>
      <span className="title">{name}</span>
      <span>{title}</span>
      <span className="facts">
        <span>{inWords(rule)}</span>
        <span className={status === 'paused' ? 'urgent' : 'count'}>{status}</span>
        {nextRunAt !== null && (
          <span>
            next <Time at={nextRunAt} />
          </span>
        )}
        <span>with the rights of {owner.name}</span>
      </span>
      {pausedReason !== null && <p className="warning">{pausedReason}</p>}
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Next times and runs of {name}</summary>
        {isOpen && <Details me={me} scheduleId={scheduleId} mayChange={mayChange} />}
      </details>
      {mayChange && (
        <div className="row">
          <Act
            verb="Run now"
            of={name}
            effect="It hands in the work once, with your rights. Its times stay as they are."
            act={() => client.schedules.run(scheduleId)}
            stale={STALE}
            says={`Handed in once: ${name}`}
          />
          {status === 'active' ? (
            <Act
              verb="Pause"
              of={name}
              effect="It hands in nothing until it is resumed."
              act={() => client.schedules.update(scheduleId, { status: 'paused' })}
              stale={STALE}
              says={`Paused: ${name}`}
            />
          ) : (
            <Act
              verb="Resume"
              of={name}
              effect="It runs again from its next time on, with your rights."
              act={() => client.schedules.update(scheduleId, { status: 'active' })}
              stale={STALE}
              says={`Resumed: ${name}`}
            />
          )}
          <Act
            verb="Delete"
            of={name}
            effect="It hands in nothing any more. What it has handed in stays."
            isDanger
            act={() => client.schedules.delete(scheduleId)}
            stale={['schedule']}
            onDone={() => {
              setOpen(false);
              tell(`Deleted: ${name}`);
            }}
          />
        </div>
      )}
    </li>
  );
}

/** The next five times, what it handed in before, and the form that changes it. */
function Details({
  me,
  scheduleId,
  mayChange,
}: {
  me: BootstrapView;
  scheduleId: string;
  mayChange: boolean;
}) {
  const schedule = useQuery({
    queryKey: ['one_schedule', scheduleId],
    queryFn: () => client.schedules.get(scheduleId),
  });
  return (
    <>
      <Loaded query={schedule}>
        {(data) => (
          <>
            <h2>Next times</h2>
            {data.nextRunsAt.length === 0 && <p className="quiet">None while it is paused.</p>}
            <ol>
              {data.nextRunsAt.map((at) => (
                <li key={at}>
                  <Time at={at} />
                </li>
              ))}
            </ol>
            <h2>Runs</h2>
            <Listing<DirectiveSummary>
              name={`runs of ${data.name}`}
              queryKey={['schedule', 'runs', scheduleId]}
              list={(page) => client.directives.list({ scheduleId, ...page })}
              empty="It has handed in nothing yet."
            >
              {({ directiveId, title, status, createdAt }) => (
                <li key={directiveId}>
                  <Link to="/directives/$directiveId" params={{ directiveId }}>
                    <span className="title">{title}</span>
                    <span className="facts">
                      <span className={`status ${status}`}>{stateOf(status)}</span>
                      <Time at={createdAt} />
                    </span>
                  </Link>
                </li>
              )}
            </Listing>
            {mayChange && (
              <details>
                <summary>Change {data.name}</summary>
                <Form
                  key={data.updatedAt}
                  about={`schedule ${scheduleId}`}
                  verb="Save the schedule"
                  act={(texts) => client.schedules.update(scheduleId, bodyOf(texts, data))}
                  stale={STALE}
                  onDone={(saved) => tell(`Saved: ${saved.name}, ${inWords(saved.rule)}`)}
                >
                  <ScheduleFields me={me} schedule={data} />
                </Form>
              </details>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}
