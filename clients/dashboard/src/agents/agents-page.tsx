import type { ActionRequestSummary, AgentView, DirectiveSummary, OutsideAgentView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { mayAct, useCapoNames, useMe } from '../me.js';
import { admin, client } from '../session.js';
import { Act } from '../ui/act.js';
import { Csv, onePage } from '../ui/csv.js';
import { Loaded, Rows } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { stateOf } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { Tools } from './tools.js';

/** Who works without being a person: the five capos, agents from outside, and the tools that these ask for. */
export function AgentsPage() {
  const agents = useQuery({ queryKey: ['agent'], queryFn: () => client.agents.list() });
  return (
    <div className="page">
      <h1>Agents and tools</h1>
      <Loaded query={agents}>
        {({ agents: capos, outsideAgents }) => (
          <>
            <section aria-label="Agents from outside">
              <h2>Agents from outside</h2>
              <Rows
                items={outsideAgents}
                empty="None yet. An agent asks with a token of its own, which an admin makes on the page API."
              >
                {(agent) => <OutsideAgent key={agent.tokenId} agent={agent} />}
              </Rows>
              <Csv
                name="agents from outside"
                total={outsideAgents.length}
                list={() => onePage(outsideAgents)}
              />
            </section>
            <section aria-label="Capos">
              <h2>Capos</h2>
              <p className="quiet">The built-in assistants that draft the work.</p>
              <Rows items={capos} empty="None.">
                {(capo) => <Capo key={capo.role} capo={capo} />}
              </Rows>
              <Csv name="capos" total={capos.length} list={() => onePage(capos)} />
            </section>
          </>
        )}
      </Loaded>
      <Tools />
    </div>
  );
}

const STALE = ['agent', 'tokens'] as const;

function OutsideAgent({ agent }: { agent: OutsideAgentView }) {
  const { tokenId, name, tools, status, statusReason, pendingRequests, memberId, memberName } = agent;
  const { lastUsedAt, pausedBy } = agent;
  const me = useMe();
  const isAdmin = mayAct(me, 'admin');
  const mayPause = isAdmin || memberId === me?.operator.memberId;
  return (
    <li>
      <span className="title">{name}</span>
      <span className="facts">
        <span className={status === 'paused' ? 'urgent' : 'count'}>{status}</span>
        {/* The reason of a paused one says who paused it. */}
        <span>{statusReason}</span>
        <span>for {memberName}</span>
        <span>tools {tools.join(', ')}</span>
        {pendingRequests > 0 && <span>{pendingRequests} wait</span>}
        {lastUsedAt !== null && (
          <span>
            asked <Time at={lastUsedAt} />
          </span>
        )}
      </span>
      <Asked name={name} />
      <div className="row">
        {pausedBy === null && mayPause && (
          <Act
            verb="Pause"
            of={name}
            effect="Within a second its token stops working, until it is resumed. What it asked stays in the inbox."
            act={() => admin.tokens.pause(tokenId)}
            stale={STALE}
            says={`${name} is paused.`}
          />
        )}
        {pausedBy !== null && isAdmin && (
          <Act
            verb="Resume"
            of={name}
            effect="Its token can be used again."
            act={() => admin.tokens.resume(tokenId)}
            stale={STALE}
            says={`${name} is resumed.`}
          />
        )}
      </div>
    </li>
  );
}

/** The part of a list, newest first, that is of today. */
function ofToday<T extends { createdAt: number }>(page: {
  items: T[];
  total: number;
  nextCursor: string | null;
}) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const items = page.items.filter(({ createdAt }) => createdAt >= midnight);
  return items.length < page.items.length ? { items, total: items.length, nextCursor: null } : page;
}

/** The states in which what was asked can be taken back: nobody has begun to act. */
const CAN_BE_TAKEN_BACK = new Set<ActionRequestSummary['status']>(['pending', 'allowed', 'approved']);

/** What an agent asked since midnight, read when somebody wants to see it. */
function Asked({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false);
  const me = useMe();
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>What {name} asked today</summary>
      {isOpen && (
        <Listing<ActionRequestSummary>
          name={`requests of ${name} today`}
          queryKey={['action', name]}
          list={async (page) => ofToday(await client.actions.list({ agent: name, ...page }))}
          empty="None yet."
        >
          {({ actionRequestId, title, tool, status, createdAt, approvalId, teamId }) => (
            <li key={actionRequestId}>
              <span className="title">{title}</span>
              <span className="facts">
                <span>{tool}</span>
                <span className={`status ${status}`}>{status}</span>
                <Time at={createdAt} />
                {approvalId !== null && (
                  <Link to="/approvals/$approvalId" params={{ approvalId }}>
                    Read the approval
                  </Link>
                )}
              </span>
              {CAN_BE_TAKEN_BACK.has(status) && mayAct(me, 'operator', teamId) && (
                <Act
                  verb="Take back"
                  of={`${title} ${actionRequestId}`}
                  effect="The agent may not do it any more. It can ask again."
                  act={() => client.actions.cancel(actionRequestId)}
                  stale={['action', 'agent', 'approvals']}
                  says={`${title} is taken back: ${name} may not do it.`}
                />
              )}
            </li>
          )}
        </Listing>
      )}
    </details>
  );
}

/** What a capo was given since midnight, and what became of it. */
function Done({ role, name }: { role: AgentView['role']; name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>What {name} was given today</summary>
      {isOpen && (
        <Listing<DirectiveSummary>
          name={`work of ${name} today`}
          queryKey={['directive', 'of', role]}
          list={async (page) => ofToday(await client.directives.list({ capo: role, ...page }))}
          empty="None yet."
        >
          {({ directiveId, title, status, createdAt, createdBy }) => (
            <li key={directiveId}>
              <Link to="/directives/$directiveId" params={{ directiveId }}>
                <span className="title">{title}</span>
                <span className="facts">
                  <span className={`status ${status}`}>{stateOf(status)}</span>
                  <span>{createdBy.name}</span>
                  <Time at={createdAt} />
                </span>
              </Link>
            </li>
          )}
        </Listing>
      )}
    </details>
  );
}

function Capo({ capo }: { capo: AgentView }) {
  const { role, status, statusReason, pendingDirectives, completedToday, lastExecutedAt, pausedBy } = capo;
  const isAdmin = mayAct(useMe(), 'admin');
  const name = useCapoNames()(role);
  return (
    <li>
      <span className="title">{name}</span>
      <span className="facts">
        <span className={status === 'paused' || status === 'halted' ? 'urgent' : 'count'}>
          {status.replace('-', ' ')}
        </span>
        <span>{statusReason}</span>
        <span>{completedToday} carried out today</span>
        <span>{pendingDirectives} open</span>
        {lastExecutedAt !== null && (
          <span>
            the last <Time at={Date.parse(lastExecutedAt)} />
          </span>
        )}
      </span>
      <Done role={role} name={name} />
      {isAdmin && (
        <div className="row">
          {pausedBy === null ? (
            <Act
              verb="Pause"
              of={name}
              effect="It begins no directive until it is resumed. What it has begun goes on."
              act={() => client.agents.pause(role)}
              stale={STALE}
              says={`${name} is paused.`}
            />
          ) : (
            <Act
              verb="Resume"
              of={name}
              effect="It begins directives again, the oldest first."
              act={() => client.agents.resume(role)}
              stale={STALE}
              says={`${name} is resumed.`}
            />
          )}
        </div>
      )}
    </li>
  );
}
