import { exec, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atTerminal, hasTerminal } from '../clients/cli/terminal.js';
import { freePort } from '../support/machine-postgres.js';
import { ServiceProcess } from '../support/processes.js';
import { eventually } from '../support/test-app.js';

const ROOT = join(import.meta.dirname, '../..');
const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
const withCurl = await readFile(join(ROOT, 'docs/guides/clients/http.md'), 'utf8');

/** What a newcomer pastes into the second terminal. */
const blockOf = (page: string) => /(^TO=[^]*?)^```$/m.exec(page)![1]!;

/** The block with the first three lines changed, as a newcomer does. */
const OWN = {
  TO: 'zoe@acme.example',
  SUBJECT: 'Lunch on Tuesday?',
  TEXT: "Hi Zoë, it's 10 % off - shall we have lunch on Tuesday at 12:30?",
};
/** What the first three lines of its block say. */
const namesIn = (page: string) =>
  Object.fromEntries([...blockOf(page).matchAll(/^(\w+)="(.*)"$/gm)].map(([, name, value]) => [name, value]));
const ownWording = (page: string) =>
  Object.entries(OWN).reduce(
    (changed, [name, value]) => changed.replace(new RegExp(`^${name}=.*$`, 'm'), () => `${name}="${value}"`),
    blockOf(page),
  );

let folder: string;
let port: number;
let service: ServiceProcess | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consigliere-quick-start-'));
  // Run by root, the database works as another user, who must be able to enter.
  await chmod(folder, 0o755);
  port = await freePort();
});
afterAll(async () => {
  await service?.kill();
  await rm(folder, { recursive: true, force: true });
});

/** Pastes this into a shell; `seen` answers once it has written a text. */
function paste(shell: string, pasted = blockOf(withCurl)) {
  const child = spawn(shell, ['-c', pasted], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (written += chunk.toString()));
  const ended = once(child, 'close').then(() => written);
  const seen = async (text: string) => {
    while (!written.includes(text)) await once(child.stdout, 'data');
  };
  return { ended, seen };
}

/** What a mail says. */
async function wordingOf(file: string) {
  const { to, subject, text } = await PostalMime.parse(await readFile(file));
  return { TO: to?.[0]?.address, SUBJECT: subject, TEXT: text?.trim() };
}

/** The subjects of the mails that it printed. */
const mails = (written: string) => written.match(/^Subject: .*$/gm);

describe('the quick start with curl', { timeout: 240_000 }, () => {
  it('pasted before the service listens, waits for it, and goes through to the receipts', async () => {
    const pasted = paste('bash');
    await pasted.seen(`Waiting for the service at http://127.0.0.1:${port}`);
    service = await ServiceProcess.start({
      NODE_ENV: 'test',
      DATA_DIR: join(folder, '.data'),
      PORT: String(port),
    });
    const written = await pasted.ended;
    expect(written).toContain('"approvalId":"apr_');
    expect(written).toContain('"ready":true');
    expect(written).toContain('"status":"approved"');
    expect(mails(written), written).toHaveLength(1);
    expect(written).toContain('To: jane@acme.example');
    expect(written).toMatch(/"items":\[\{.*\}\]/);
    expect(written).toContain('"ok":true');
    expect(written).not.toMatch(/Error|not found|No such file/);
  });

  it('pasted again with the reader’s own wording, sends that mail and shows no other', async () => {
    const written = await paste('sh', ownWording(withCurl)).ended;
    expect(mails(written), written).toHaveLength(1);
    const file = /^\.data\/outbox\/.*\.eml$/m.exec(written)?.[0];
    expect(await wordingOf(join(folder, file!))).toEqual(OWN);
  });
});

describe.skipIf(!hasTerminal)('the quick start of the README', { timeout: 120_000 }, () => {
  const outbox = () => globSync('.data/outbox/**/*.eml', { cwd: folder });
  /** What a newcomer's programs find around them: this project, and a service with a first token. */
  const environment = () => ({ PATH: process.env.PATH!, HOME: folder, PORT: String(port) });
  beforeAll(() => symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules')));

  it.each([
    ['as one paste', 'on', blockOf(readme), namesIn(readme)],
    ['line by line, as an old shell takes it, with the reader’s own wording', 'off', ownWording(readme), OWN],
  ])('pasted %s, goes through to the receipts and the mail', async (_, bracketed, block, wording) => {
    const before = outbox();
    await writeFile(join(folder, 'inputrc'), `set enable-bracketed-paste ${bracketed}\n`);
    await writeFile(join(folder, 'bashrc'), `PS1='newcomer$ '\n`);
    const env = { ...environment(), INPUTRC: join(folder, 'inputrc') };
    const pasted = bracketed === 'on' ? `\u001b[200~${block}\u001b[201~\r` : block;
    const { screen } = await atTerminal(
      ['bash', '--noprofile', '--rcfile', join(folder, 'bashrc'), '-i'],
      [
        ['newcomer$ ', pasted],
        ['[q]uit', 'a'],
        ['Nothing is wrong.', ''],
        ['newcomer$ ', 'exit\r'],
      ],
      { cwd: folder, env },
    );
    expect(screen).toContain('1 approved, 0 rejected, 0 skipped.');
    expect(screen).toMatch(/approved[^]*Nothing is wrong\.\nReceipts: \d+/);
    expect(screen).not.toMatch(/Error|not found|No such file/);
    const [mail] = await eventually(
      async () => outbox().filter((file) => !before.includes(file)),
      ({ length }) => length > 0,
    );
    expect(await wordingOf(join(folder, mail!))).toEqual(wording);
    expect(outbox()).toHaveLength(before.length + 1);
  });

  it('has an agent that acts once a person has approved', async () => {
    const [add] = /^npx consigliere agents add .*$/m.exec(readme)!;
    const [, agent = ''] = /^```js\n([^]*?)^```$/m.exec(readme)!;
    const [, start = ''] = /^`TOOL_URL=\.\.\. (npx node .*?)`/m.exec(readme)!;
    const got: { path: string; permit: string; params: unknown }[] = [];
    const tool = createServer((request, response) => {
      const act = async () => {
        const params = await json(request);
        got.push({ path: request.url!, permit: request.headers.authorization!, params });
        response.end('Refunded.');
      };
      act().catch(() => response.destroy());
    }).listen(0, '127.0.0.1');
    await once(tool, 'listening');
    try {
      await writeFile(join(folder, 'agent.mjs'), agent);
      const run = promisify(exec);
      const inFolder = { cwd: folder, env: environment() };
      expect((await run(add, inFolder)).stderr).toContain('may ask for crm.refund');
      const TOOL_URL = `http://127.0.0.1:${(tool.address() as AddressInfo).port}`;
      const acting = run(start, { cwd: folder, env: { ...environment(), TOOL_URL } });
      const [request] = await eventually(
        async () => JSON.parse((await run('npx consigliere actions --json', inFolder)).stdout),
        ({ length }) => length === 1,
      );
      expect(request).toMatchObject({ status: 'pending', tool: 'crm.refund' });
      expect(got).toEqual([]);
      const approve = `npx consigliere approvals approve ${request.approvalId} --yes`;
      expect((await run(approve, inFolder)).stdout).toContain('approved');
      expect((await acting).stdout).toBe('Refunded.\n');
      const permit = expect.stringMatching(/^Permit ey[\w.-]+$/) as string;
      expect(got).toEqual([{ path: '/crm.refund', permit, params: { order: 'A-17' } }]);
    } finally {
      tool.close();
    }
  });
});
