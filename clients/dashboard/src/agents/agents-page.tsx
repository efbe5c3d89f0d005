import type { AgentView, OutsideAgentView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { admin, client } from '../session.js';
import { Act } from '../ui/act.js';
import { Loaded, Rows } from '../ui/list.js';
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
            </section>
            <section aria-label="Capos">
              <h2>Capos</h2>
              <Rows items={capos} empty="None.">
                {(capo) => <Capo key={capo.role} capo={capo} />}
              </Rows>
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
            effect="Within a second its token opens nothing, until it is resumed. What it asked stays in the inbox."
            act={() => admin.tokens.pause(tokenId)}
            stale={STALE}
          />
        )}
        {pausedBy !== null && isAdmin && (
          <Act
            verb="Resume"
            of={name}
            effect="Its token can be used again."
            act={() => admin.tokens.resume(tokenId)}
            stale={STALE}
          />
        )}
      </div>
    </li>
  );
}

/** What an agent asked since midnight, read when somebody wants to see it. */
function Asked({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false);
  const requests = useQuery({
    queryKey: ['action', name],
    queryFn: () => client.actions.list({ agent: name, limit: 100 }),
    enabled: isOpen,
  });
  const midnight = new Date().setHours(0, 0, 0, 0);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>What {name} asked today</summary>
      {isOpen && (
        <Loaded query={requests}>
          {({ items }) => (
            <Rows items={items.filter(({ createdAt }) => createdAt >= midnight)} empty="Nothing yet.">
              {({ actionRequestId, title, tool, status, createdAt, approvalId }) => (
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
                </li>
              )}
            </Rows>
          )}
        </Loaded>
      )}
    </details>
  );
}

function Capo({ capo }: { capo: AgentView }) {
  const { role, status, statusReason, pendingDirectives, completedToday, lastExecutedAt, pausedBy } = capo;
  const isAdmin = mayAct(useMe(), 'admin');
  return (
    <li>
      <span className="title">{role.replace('capo_', '')}</span>
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
      {isAdmin && (
        <div className="row">
          {pausedBy === null ? (
            <Act
              verb="Pause"
              of={role}
              effect="It begins no directive until it is resumed. What it has begun goes on."
              act={() => client.agents.pause(role)}
              stale={STALE}
            />
          ) : (
            <Act
              verb="Resume"
              of={role}
              effect="It begins directives again, the oldest first."
              act={() => client.agents.resume(role)}
              stale={STALE}
            />
          )}
        </div>
      )}
    </li>
  );
}
