import type { BootstrapView, InstallSkillPackBody } from '@consigliere/sdk';
import { useState } from 'react';
import { AuthorsWords, Rule } from '../orders/rule.js';
import { client } from '../session.js';
import { Field, Form } from '../ui/form.js';
import { Rows } from '../ui/list.js';

/** A pack brings standing orders, and is part of what is known of the workspace. */
export const STALE = ['skill_pack', 'standing_order', 'me'] as const;

/** The service takes 256 KB of manifest without the spaces between; what is much larger is not even read. */
const MAX_BYTES = 2_000_000;

/** Reads the file of a pack and says what it would bring, before it is sent. */
export function InstallPack({ me }: { me: BootstrapView }) {
  const [pack, setPack] = useState<InstallSkillPackBody | 'none'>();
  const { name, publisher, version } = typeof pack === 'object' ? pack.manifest : ({} as Part);
  const former = me.packs.find(
    (one) => one.name === name && one.publisher === publisher && one.version !== version,
  );
  const verb = former ? 'Upgrade' : 'Install';
  return (
    <section aria-label="Install a pack">
      <h2>Install or upgrade</h2>
      <Field label="File of the pack" hint="signed by its publisher, .json">
        <input
          type="file"
          accept=".json,application/json"
          // The same file can be chosen again after it was changed.
          onClick={({ currentTarget }) => (currentTarget.value = '')}
          onChange={({ target }) => void packIn(target.files?.[0]).then(setPack)}
        />
      </Field>
      {pack === 'none' && (
        <p className="warning" role="alert">
          This file is not a signed skill pack.
        </p>
      )}
      {typeof pack === 'object' && (
        <Form
          about="pack"
          verb={verb}
          act={() => client.skillPacks.install(pack)}
          stale={STALE}
          onDone={() => setPack(undefined)}
          onBack={() => setPack(undefined)}
        >
          <Plan verb={verb} former={former?.version} manifest={pack.manifest} />
        </Form>
      )}
    </section>
  );
}

/** What stands in a file, as far as it has the shape of a pack: the service checks the rest. */
async function packIn(file: File | undefined): Promise<InstallSkillPackBody | 'none' | undefined> {
  if (!file) return undefined;
  if (file.size > MAX_BYTES) return 'none';
  try {
    const { manifest, signature } = JSON.parse(await file.text()) as Partial<InstallSkillPackBody>;
    return typeof manifest === 'object' && manifest !== null && typeof signature === 'string'
      ? { manifest, signature }
      : 'none';
  } catch {
    return 'none';
  }
}

type Part = Record<string, unknown>;

/** What comes of the installation. Nobody has checked the file yet, so any part may be of any kind. */
function Plan({ verb, former, manifest }: { verb: string; former: string | undefined; manifest: Part }) {
  const { name, version, publisher, description } = manifest;
  return (
    <section aria-label="What it would bring">
      <h3>
        {verb} {textOf(name)} {textOf(version)} by {textOf(publisher)}
      </h3>
      <p>{textOf(description)}</p>
      {former && (
        <p>
          It takes the place of {former}. Drafts of standing orders that nobody has changed are replaced,
          others stay.
        </p>
      )}
      <p>
        A checkpoint is taken first. Standing orders arrive as drafts and decide nothing until a person
        activates them. Skills reach the next drafts of their capo.
      </p>
      <Rows items={partsOf(manifest['standingOrders'])} empty="No standing orders.">
        {(order) => (
          <li key={textOf(order['key'])}>
            <span className="title">{textOf(order['name'])}</span>
            <span className="facts">
              <span>standing order</span>
            </span>
            <Rule order={order} />
            <AuthorsWords order={{ name: textOf(order['name']), text: textOf(order['text']) }} />
            <Whole name={textOf(order['name'])} of={order} />
          </li>
        )}
      </Rows>
      <Rows items={partsOf(manifest['skills'])} empty="No skills.">
        {(skill) => (
          <li key={textOf(skill['name'])}>
            <span className="title">{textOf(skill['name'])}</span>
            <span className="facts">
              <span>skill of {textOf(skill['capo'])}</span>
            </span>
            <span className="output">{textOf(skill['instructions'])}</span>
            <Whole name={textOf(skill['name'])} of={skill} />
          </li>
        )}
      </Rows>
    </section>
  );
}

/** All that stands in an order or a skill, for those who want to know. */
export function Whole({ name, of }: { name: string; of: Part }) {
  return (
    <details>
      <summary>All of {name}</summary>
      <pre className="output">{JSON.stringify(of, null, 2)}</pre>
    </details>
  );
}

function partsOf(value: unknown): Part[] {
  return Array.isArray(value) ? value.map((part) => Object(part) as Part) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
