import type { ChangeToolBody, ToolSummary, ToolView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { WordDiff } from '../inbox/word-diff.js';
import { mayAct, mayActSomewhere, useMe } from '../me.js';
import { client, keyOfTab } from '../session.js';
import { Act } from '../ui/act.js';
import { Field, Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { useTyped } from '../ui/typed.js';
import { SchemaFields } from './schema-fields.js';

const STALE = ['tool', 'one_tool'] as const;
const RISKS = ['low', 'medium', 'high', 'critical'] as const satisfies readonly ToolView['risk'][];
const REVERSIBILITIES = [
  'read_only',
  'reversible',
  'externally_reversible',
  'irreversible',
] as const satisfies readonly ToolView['reversibility'][];
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
        name="proposed tools"
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
      <Register />
    </section>
  );
}

/** An admin registers a tool at once; anybody else proposes it. */
function Register() {
  const me = useMe();
  if (!mayActSomewhere(me, 'operator')) return null;
  const verb = mayAct(me, 'admin') ? 'Register the tool' : 'Propose the tool';
  return (
    <details>
      <summary>{verb.replace('the', 'a')}</summary>
      <Form
        about="tool:new"
        verb={verb}
        act={async ({ name, title, description, risk, reversibility, schema }) =>
          client.tools.create({
            name: name!,
            title: title || null,
            description: description || null,
            risk: risk as ToolView['risk'],
            reversibility: reversibility as ToolView['reversibility'],
            paramsSchema: JSON.parse(schema!) as Record<string, unknown>,
          })
        }
        stale={STALE}
        says={({ name, status }) =>
          `The tool ${name} is ${status === 'proposed' ? 'proposed' : 'registered'}.`
        }
      >
        <Field label="Name" hint="what agents call it, such as crm.refund">
          <input name="name" required maxLength={255} autoComplete="off" />
        </Field>
        <Field label="Title" hint="what people call it">
          <input name="title" maxLength={120} />
        </Field>
        <Field label="What it does" hint="for the person who decides">
          <textarea name="description" maxLength={4_000} />
        </Field>
        <Field label="Risk">
          <select name="risk" defaultValue="high">
            {RISKS.map((risk) => (
              <option key={risk}>{risk}</option>
            ))}
          </select>
        </Field>
        <Field label="Can it be undone?">
          <select name="reversibility" defaultValue="irreversible">
            {REVERSIBILITIES.map((one) => (
              <option key={one} value={one}>
                {one.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </Field>
        <Field label="What it takes" hint="JSON Schema of an object">
          <textarea
            name="schema"
            className="json"
            spellCheck={false}
            required
            defaultValue={JSON.stringify({ type: 'object', properties: {} }, null, 2)}
          />
        </Field>
      </Form>
    </details>
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

/**
 * Nobody accepts what they have not read: a change since the definition was read last in this tab is shown word by word, and has to be
 * read first.
 */
function AsRead({ now, onGone }: { now: ToolView; onGone: () => void }) {
  const me = useMe();
  const key = keyOfTab(`read-tool:${now.name}`);
  const [read, setRead] = useState<ToolView>(
    () => (JSON.parse(sessionStorage.getItem(key) ?? 'null') as ToolView | null) ?? now,
  );
  useEffect(() => sessionStorage.setItem(key, JSON.stringify(read)), [key, read]);
  const isAdmin = mayAct(me, 'admin');
  const { name, fingerprint } = read;
  const ifMatch = fingerprint;
  if (now.fingerprint !== read.fingerprint) {
    return (
      <div className="changed">
        <p role="alert">This definition was changed since you read it:</p>
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
      <SchemaFields schema={read.paramsSchema} />
      <h3>Everything, as JSON</h3>
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
            says={`${name} is accepted.`}
          />
        )}
        {isAdmin && now.status === 'paused' && (
          <Act
            verb="Resume"
            of={name}
            effect="It is in use again as you have read it."
            act={() => client.tools.update(name, { status: 'active' }, { ifMatch })}
            stale={STALE}
            says={`${name} is resumed.`}
          />
        )}
        {mayAct(me, 'operator') && now.status === 'active' && (
          <Act
            verb="Pause"
            of={name}
            effect="Each request for it is denied until an admin resumes it."
            act={() => client.tools.update(name, { status: 'paused' })}
            stale={STALE}
            says={`${name} is paused.`}
          />
        )}
        {isAdmin && (
          <Act
            verb={now.status === 'proposed' ? 'Refuse' : 'Delete'}
            of={name}
            effect="It is unknown then: each request for it asks a person. An agent may propose it again."
            isDanger
            act={() => client.tools.delete(name)}
            stale={['tool']}
            says={`${name} is ${now.status === 'proposed' ? 'refused' : 'deleted'}.`}
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
  const about = `tool ${tool.name} ${tool.fingerprint}`;
  const { typed, type, forget } = useTyped(about);
  const after = typed['definition'] ?? before;
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Change {tool.name}</summary>
      {isOpen && (
        <Form
          about={about}
          verb="Save this definition"
          act={async () =>
            client.tools.update(tool.name, JSON.parse(after) as ChangeToolBody, { ifMatch: tool.fingerprint })
          }
          stale={STALE}
          onDone={forget}
          says={`The definition of ${tool.name} is saved.`}
        >
          <Field label={`Definition of ${tool.name}`} hint="as JSON">
            <textarea
              className="json"
              spellCheck={false}
              value={after}
              onChange={({ target }) => type('definition', target.value)}
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
