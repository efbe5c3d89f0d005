import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { isBodySignature } from '../../src/platform/signatures/body-signature.js';
import { newSigningSecret, signEvent } from '../../src/platform/signatures/event-signature.js';
import { bytesOf, vectors } from '../support/webhook-vectors.js';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** One request for a snippet to judge; the body as base64, so that every snippet gets the same bytes. */
interface Case {
  name: string;
  header: string;
  body: string;
  secret: string;
  /** Unix milliseconds. */
  now: number;
  genuine: boolean;
}

/** Every vector that has an X-Service-Signature, the accepted ones once with each of their secrets. */
const cases: Case[] = [
  ...vectors.events.accepted.flatMap(({ secrets, ...vector }) =>
    secrets.map((secret) => ({ ...vector, secret, genuine: true })),
  ),
  ...vectors.events.refused.map((vector) => ({ ...vector, genuine: false })),
].flatMap(({ headers, body, ...vector }) => {
  const header = headers['X-Service-Signature'];
  return header === undefined ? [] : [{ ...vector, header, body: bytesOf(body).toString('base64') }];
});

const verdicts = (judged: readonly boolean[]) => cases.map(({ name }, index) => [name, judged[index]]);
const expected = cases.map(({ name, genuine }) => [name, genuine]);

/** The named code blocks of the guide: ```<language> <file name>. */
async function snippets(): Promise<Map<string, string>> {
  const guide = await readFile(join(ROOT, 'docs/webhooks.md'), 'utf8');
  const blocks = guide.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms);
  return new Map([...blocks].map(([, name, code]) => [name!, code!]));
}

/** Skips the test, and says so in the output, where this machine lacks a program or a module of one. */
async function needs({ skip }: Pick<TestContext, 'skip'>, program: string, ...args: string[]): Promise<void> {
  try {
    await run(program, args);
  } catch {
    const reason = `skipped, since this machine cannot run: ${[program, ...args].join(' ')}`;
    console.warn(reason);
    skip(reason);
  }
}

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consigliere-guide-'));
  for (const [name, code] of await snippets()) await writeFile(join(folder, name), code);
  await writeFile(join(folder, 'cases.json'), JSON.stringify(cases));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the guide', () => {
  it('has the snippets that are run here', async () => {
    expect([...(await snippets()).keys()]).toEqual([
      'verify-event.mjs',
      'receiver.mjs',
      'verify_event.py',
      'read_event.py',
      'verify-event.sh',
      'send-update.sh',
    ]);
  });

  it('has cases of both kinds to judge', () => {
    expect(cases.filter(({ genuine }) => genuine).length).toBeGreaterThan(10);
    expect(cases.filter(({ genuine }) => !genuine).length).toBeGreaterThan(30);
  });
});

describe('the verifier', () => {
  it('in Node accepts and refuses what the vectors say', async () => {
    const driver = `
      import { readFileSync } from 'node:fs';
      import { isGenuine } from './verify-event.mjs';
      const cases = JSON.parse(readFileSync('cases.json', 'utf8'));
      const judge = ({ header, body, secret, now }) => isGenuine(header, Buffer.from(body, 'base64'), secret, now);
      const absent = isGenuine(undefined, Buffer.from('{}'), 'a secret of some length');
      console.log(JSON.stringify({ judged: cases.map(judge), absent }));`;
    await writeFile(join(folder, 'driver.mjs'), driver);
    const { stdout } = await run(process.execPath, ['driver.mjs'], { cwd: folder });
    const { judged, absent } = JSON.parse(stdout);
    expect(verdicts(judged)).toEqual(expected);
    expect(absent).toBe(false);
  });

  it('in Python accepts and refuses what the vectors say', async (context) => {
    await needs(context, 'python3', '--version');
    const driver = `
import base64, json
from verify_event import is_genuine
cases = json.load(open("cases.json", encoding="utf-8"))
judge = lambda case: is_genuine(case["header"], base64.b64decode(case["body"]), case["secret"], case["now"] / 1000)
absent = is_genuine(None, b"{}", "a secret of some length")
print(json.dumps({"judged": [judge(case) for case in cases], "absent": absent}))`;
    await writeFile(join(folder, 'driver.py'), driver);
    const { stdout } = await run('python3', ['driver.py'], { cwd: folder });
    const { judged, absent } = JSON.parse(stdout);
    expect(verdicts(judged)).toEqual(expected);
    expect(absent).toBe(false);
  });

  it('in the shell accepts and refuses what the vectors say', { timeout: 60_000 }, async (context) => {
    await needs(context, 'openssl', 'version');
    const judged: boolean[] = [];
    for (const { header, body, secret, now } of cases) {
      await writeFile(join(folder, 'body'), Buffer.from(body, 'base64'));
      const env = { PATH: process.env.PATH, WEBHOOK_SECRET: secret, NOW: String(Math.floor(now / 1000)) };
      const said = await run('sh', ['verify-event.sh', header, 'body'], { cwd: folder, env }).then(
        ({ stdout }) => stdout,
        ({ code }) => `exit ${code}`,
      );
      expect(['genuine\n', 'exit 1']).toContain(said);
      judged.push(said === 'genuine\n');
    }
    expect(verdicts(judged)).toEqual(expected);
  });
});

/** An accepted vector's body, signed now: the Standard Webhooks libraries have no clock but the system's. */
const signedNow = (secret: string, id = 'evt_1') => {
  const body = bytesOf(vectors.events.accepted[2]!.body);
  return { body, headers: { ...signEvent({ body, at: Date.now(), id, secrets: [secret] }) } };
};

describe('the receiver in Node', () => {
  it('takes a signed event once, and refuses whatever was changed', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, 'close');

    const secret = newSigningSecret();
    const env = { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: secret };
    const receiver = spawn(process.execPath, ['receiver.mjs'], { cwd: folder, env });
    let output = '';
    for (const stream of [receiver.stdout, receiver.stderr]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    }
    const post = async (headers: Record<string, string>, body: Buffer) => {
      const request = { method: 'POST', headers, body: new Uint8Array(body) };
      return (await fetch(`http://127.0.0.1:${port}/`, request)).status;
    };
    try {
      const { headers, body } = signedNow(secret);
      await untilAnswers(() => post({}, body));
      const tampered = Buffer.from(body.toString().replace('first', 'First'));
      expect(tampered).not.toEqual(body);
      expect(await post(headers, tampered)).toBe(401);
      expect(await post({ ...headers, 'webhook-id': 'evt_2' }, body)).toBe(401);
      expect(await post(signedNow(newSigningSecret()).headers, body)).toBe(401);
      expect(output).toBe('');
      expect(await post(headers, body)).toBe(204);
      expect(await post(headers, body)).toBe(204);
      expect(await post(signedNow(secret, 'evt_3').headers, body)).toBe(204);
      expect(output.match(/directive\.created/g)).toHaveLength(2);
    } finally {
      receiver.kill('SIGKILL');
      await once(receiver, 'close');
    }
  });
});

/** Until the process that was just started listens. */
async function untilAnswers(ask: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await ask();
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(50);
    }
  }
}

describe('the reader in Python', () => {
  it('takes a signed event, and refuses whatever was changed', async (context) => {
    await needs(context, 'python3', '-c', 'import standardwebhooks');
    const driver = `
import json, sys
from read_event import read_event
headers, body, secret = json.load(sys.stdin)
print(json.dumps(read_event(headers, body.encode(), secret)))`;
    await writeFile(join(folder, 'reader.py'), driver);
    const secret = newSigningSecret();
    const { headers, body } = signedNow(secret);
    const read = async (text: string) => {
      const reading = run('python3', ['reader.py'], { cwd: folder });
      reading.child.stdin!.end(JSON.stringify([headers, text, secret]));
      return JSON.parse((await reading).stdout);
    };
    expect(await read(body.toString())).toEqual(JSON.parse(body.toString()));
    await expect(read(body.toString().replace('first', 'First'))).rejects.toThrow('WebhookVerificationError');
  });
});

describe('the partner update in the shell', () => {
  it('arrives signed, fresh and complete', async (context) => {
    await needs(context, 'openssl', 'version');
    await needs(context, 'curl', '--version');
    const secret = newSigningSecret();
    const server = createServer((request, response) => {
      const { method, url, headers } = request;
      void (async () => {
        const bytes = await buffer(request);
        const genuine = isBodySignature(headers['x-partner-signature'], bytes, [secret]);
        const body = bytes.toString();
        response.end(JSON.stringify({ method, url, type: headers['content-type'], genuine, body }));
      })();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const env = { PATH: process.env.PATH, PARTNER_SECRET: secret, BASE_URL: `http://127.0.0.1:${port}` };
    try {
      const { stdout } = await run('sh', ['send-update.sh', 'wks_1', 'pe_1001'], { cwd: folder, env });
      const { body, ...arrived } = JSON.parse(stdout);
      expect(arrived).toEqual({
        method: 'POST',
        url: '/api/pro/partner/induction',
        type: 'application/json',
        genuine: true,
      });
      const { firedAt, ...update } = JSON.parse(body);
      expect(Math.abs(Date.now() - firedAt)).toBeLessThan(60_000);
      expect(update).toEqual({
        workspaceId: 'wks_1',
        customerEntitlementId: 'ent_88',
        partnerTargetId: 'tgt_7',
        partnerEventId: 'pe_1001',
        metric: 'trust',
        delta: 0.05,
        priorConfidence: 0.62,
        newConfidence: 0.67,
      });
    } finally {
      server.close();
    }
  });
});
