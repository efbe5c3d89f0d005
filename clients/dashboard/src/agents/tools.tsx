import type { ChangeToolBody, ToolSummary, ToolView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { WordDiff } from '../inbox/word-diff.js';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Act } from '../ui/act.js';
import { Field, Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';

const STALE = ['tool', 'one_tool'] as const;
const STATES = {
  proposed: 'proposed: it counts as unknown, and each request for it asks a person',
  active: 'in use',
  paused: 'paused: each request for it is denied',
} as const;

/** The tools that agents may ask for: proposed ones first to be read, then accepted or refused. */
export function Tools() {
  return (
    <section aria-label="Tools">
      <h2>Proposed tools</h2>
      <Listing<ToolSummary>
        queryKey={['tool', 'proposed']}
        list={(page) => client.tools.list({ status: 'proposed', ...page })}
        empty="Nothing is proposed. Agents propose the tools that they find; until an admin accepts one, each request for it asks a person."
      >
        {(tool) => <Tool key={tool.name} tool={tool} />}
      </Listing>
      <h2>Tools</h2>
      <Listing<ToolSummary>
        queryKey={['tool', 'known']}
        list={async (page) => {
          const read = await client.tools.list(page);
          return { ...read, items: read.items.filter(({ status }) => status !== 'proposed') };
        }}
        empty="No tool is accepted yet."
      >
        {(tool) => <Tool key={tool.name} tool={tool} />}
      </Listing>
    </section>
  );
}

function Tool({
  tool: { name, title, status, risk, reversibility, createdBy, updatedAt },
}: {
  tool: ToolSummary;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <span className="title">{title}</span>
      <span className="facts">
        <code>{name}</code>
        <span>{STATES[status]}</span>
        <span className={`risk ${risk}`}>{risk}</span>
        <span>{reversibility.replaceAll('_', ' ')}</span>
        <span>{createdBy.name}</span>
        <Time at={updatedAt} />
      </span>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          {status === 'proposed' ? 'Read' : 'Show'} {name}
        </summary>
        {isOpen && <Definition name={name} onGone={() => setOpen(false)} />}
      </details>
    </li>
  );
}

/** What a tool is, and what can be done with it as it was read. */
function Definition({ name, onGone }: { name: string; onGone: () => void }) {
  const tool = useQuery({ queryKey: ['one_tool', name], queryFn: () => client.tools.get(name) });
  return <Loaded query={tool}>{(now) => <AsRead now={now} onGone={onGone} />}</Loaded>;
}

/** Whoever decides has read it: what is changed meanwhile is shown word by word, and nothing is accepted before it is read too. */
function AsRead({ now, onGone }: { now: ToolView; onGone: () => void }) {
  const me = useMe();
  const [read, setRead] = useState(now);
  const isAdmin = mayAct(me, 'admin');
  const { name, status, fingerprint } = read;
  const ifMatch = fingerprint;
  if (now.fingerprint !== read.fingerprint) {
    return (
      <div className="changed">
        <p role="alert">Its fingerprint is another one now. This has changed since you read it:</p>
        <WordDiff before={textOf(read)} after={textOf(now)} />
        <div className="row">
          <button type="button" onClick={() => setRead(now)}>
            I have read the change
          </button>
        </div>
      </div>
    );
  }
  return (
    <>
      <pre className="output">{textOf(read)}</pre>
      <p className="quiet">
        Fingerprint <code>{fingerprint}</code>
      </p>
      <div className="row">
        {isAdmin && now.status === 'proposed' && (
          <Act
            verb="Accept"
            of={name}
            effect="It is in use as you have read it: standing orders may decide about it."
            act={() => client.tools.update(name, { status: 'active' }, { ifMatch })}
            stale={STALE}
          />
        )}
        {isAdmin && now.status === 'paused' && (
          <Act
            verb="Resume"
            of={name}
            effect="It is in use again as you have read it."
            act={() => client.tools.update(name, { status: 'active' }, { ifMatch })}
            stale={STALE}
          />
        )}
        {mayAct(me, 'operator') && now.status === 'active' && (
          <Act
            verb="Pause"
            of={name}
            effect="Each request for it is denied until an admin resumes it."
            act={() => client.tools.update(name, { status: 'paused' })}
            stale={STALE}
          />
        )}
        {isAdmin && (
          <Act
            verb={status === 'proposed' ? 'Refuse' : 'Delete'}
            of={name}
            effect="It is unknown then: each request for it asks a person. An agent may propose it again."
            isDanger
            act={() => client.tools.delete(name)}
            stale={['tool']}
            onDone={onGone}
          />
        )}
      </div>
      {isAdmin && <Change tool={read} />}
    </>
  );
}

/** The definition as JSON, and what a change of it changes: a server that lists it otherwise asks for each call until it is the same. */
function Change({ tool }: { tool: ToolView }) {
  const before = textOf(tool);
  const [after, setAfter] = useState(before);
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Change {tool.name}</summary>
      {isOpen && (
        <Form
          about={`tool ${tool.name} ${tool.fingerprint}`}
          verb="Save this definition"
          act={async () =>
            client.tools.update(tool.name, JSON.parse(after) as ChangeToolBody, { ifMatch: tool.fingerprint })
          }
          stale={STALE}
        >
          <Field label={`Definition of ${tool.name}`} hint="as JSON">
            <textarea
              className="json"
              spellCheck={false}
              value={after}
              onChange={({ target }) => setAfter(target.value)}
            />
          </Field>
          {after !== before && <WordDiff before={before} after={after} />}
        </Form>
      )}
    </details>
  );
}

/** What a person reads before they accept it: everything that the fingerprint is made of, except for the name. */
function textOf(tool: ToolView): string {
  const { name: _name, fingerprint: _print, status: _status, createdBy: _by, updatedAt: _at, ...said } = tool;
  return JSON.stringify(said, null, 2);
}
