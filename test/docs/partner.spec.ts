import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EventReceiver, startEventReceiver } from '../support/event-receiver.js';
import { eventually, startTestApp, type TestApp } from '../support/test-app.js';

const GUIDE = join(import.meta.dirname, '../../docs/guides/partner.md');

let test: TestApp;
let receiver: EventReceiver;
let folder: string;
beforeAll(async () => {
  receiver = await startEventReceiver();
  test = await startTestApp({ OUTBOUND_ALLOW: receiver.hostPort });
  folder = await mkdtemp(join(tmpdir(), 'consigliere-guide-'));
  await symlink(test.dataDir, join(folder, '.data'));
});
afterAll(async () => {
  await test.close();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the guide for the partner', () => {
  it('runs as it is printed: an update with one effect, and an event that verifies', async () => {
    const guide = await readFile(GUIDE, 'utf8');
    const script = [...guide.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block).join('\n');
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: folder,
      env: { PATH: process.env.PATH, API: `${test.url}/api/pro`, RECEIVER: receiver.url },
    });
    // One line for each answer, as for every curl.
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
    const [first, second, signals, avatar, intelligence, destination, , deliveries, rotated] = answers;
    expect(first).toMatchObject({ accepted: true, duplicate: false, partnerEventId: 'pev-1' });
    expect(second).toEqual({ ...first, duplicate: true });
    expect(signals.items).toMatchObject([{ type: 'confidence', signalId: first.signalId }]);
    expect(avatar).toMatchObject({ buyers: 1, weakest: 'trust' });
    expect(intelligence).toMatchObject({ counts: { updates: 1 } });
    expect(destination).toMatchObject({ status: 'active', secret: expect.stringMatching(/^whsec_/) });
    expect(deliveries.items).toHaveLength(1);
    expect(rotated.secret).not.toBe(destination.secret);

    await eventually(async () => receiver.received.length > 0);
    const { headers, body } = receiver.received[0]!;
    const event = new Webhook(destination.secret).verify(body, headers as Record<string, string>);
    expect(event).toMatchObject({ event: 'webhook.test' });
  });
});
