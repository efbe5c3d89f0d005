import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/machine-postgres.js';
import { ServiceProcess } from '../support/processes.js';

const readme = await readFile(join(import.meta.dirname, '../../README.md'), 'utf8');

/** What a newcomer pastes into the second terminal. */
const block = /^## Quick start$[^]*?(^TO=[^]*?)^```$/m.exec(readme)![1]!;

/** The block with the first three lines changed, as a newcomer does. */
const OWN = {
  TO: 'zoe@acme.example',
  SUBJECT: 'Lunch on Tuesday?',
  TEXT: "Hi Zoë, it's 10 % off - shall we have lunch on Tuesday at 12:30?",
};
const ownWording = Object.entries(OWN).reduce(
  (changed, [name, value]) => changed.replace(new RegExp(`^${name}=.*$`, 'm'), () => `${name}="${value}"`),
  block,
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
function paste(shell: string, pasted = block) {
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

/** The subjects of the mails that it printed. */
const mails = (written: string) => written.match(/^Subject: .*$/gm);

describe('the quick start of the README', { timeout: 240_000 }, () => {
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
    const written = await paste('sh', ownWording).ended;
    expect(mails(written), written).toHaveLength(1);
    const file = /^\.data\/outbox\/.*\.eml$/m.exec(written)?.[0];
    const mail = await PostalMime.parse(await readFile(join(folder, file!)));
    expect({ TO: mail.to?.[0]?.address, SUBJECT: mail.subject, TEXT: mail.text?.trim() }).toEqual(OWN);
  });
});
