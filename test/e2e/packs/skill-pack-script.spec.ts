import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILES_DOCUMENTS, manifestOf, REMINDER } from '../../support/skill-packs.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';

const ROOT = join(import.meta.dirname, '../../..');
const SCRIPT = join(ROOT, 'dist/scripts/skill-pack.js');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consigliere-publisher-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** `npm run skill-pack --`, in a process of its own. */
async function skillPack(...given: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const done = await promisify(execFile)(process.execPath, [SCRIPT, ...given], { cwd: folder });
    return { code: 0, ...done };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

const file = async (name: string, content: unknown) => {
  await writeFile(join(folder, name), JSON.stringify(content));
  return name;
};

async function newKey(name: string): Promise<string> {
  const { stdout } = await skillPack('keys', '--publisher', 'acme', '--key', name);
  return /SKILL_PACK_PUBLISHERS=(.*)\n/.exec(stdout)![1]!;
}

/** Each call is a process of its own, and the machine may be busy. */
const SLOW = { timeout: 90_000 };

describe('npm run skill-pack', SLOW, () => {
  it('makes a key pair, of which the private half is in a file alone', async () => {
    const { stdout, code } = await skillPack('keys', '--publisher', 'acme', '--key', 'first.pem');
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nSKILL_PACK_PUBLISHERS=acme=[\w-]{43}\n$/);
    const pem = await readFile(join(folder, 'first.pem'), 'utf8');
    expect(stdout).not.toContain(pem.split('\n')[1]);
    expect((await stat(join(folder, 'first.pem'))).mode & 0o777).toBe(0o600);
    const again = await skillPack('keys', '--publisher', 'acme', '--key', 'first.pem');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') });
    expect((await skillPack('keys', '--publisher', 'Acme Inc')).stderr).toContain('--publisher must be');
  });

  it('signs a manifest that the printed key checks and the service installs', async () => {
    const publishers = await newKey('signs.pem');
    const manifest = await file('manifest.json', manifestOf());
    const signed = await skillPack('sign', manifest, '--key', 'signs.pem', '--out', 'pack.json');
    expect(signed.code).toBe(0);
    expect(signed.stdout.split('\n')).toEqual([
      'Signed invoice-reminders 1.0.0 of acme. It can be installed where this is set:',
      `SKILL_PACK_PUBLISHERS=${publishers}`,
      'If this is not a key of acme, sign again with --publisher <your name>.',
      '',
    ]);
    const checked = await skillPack('check', 'pack.json', '--publishers', publishers);
    expect(checked.stdout).toMatch(
      /^invoice-reminders 1.0.0 of acme: 1 skills, 2 standing orders, SHA-256 [\da-f]{64}\n$/,
    );
    const service = await startTestApp({ SKILL_PACK_PUBLISHERS: publishers });
    try {
      const answer = await service.owner.post(
        '/skill-packs',
        await readFile(join(folder, 'pack.json'), 'utf8'),
      );
      expect(answer.status, answer.text).toBe(202);
    } finally {
      await service.close();
    }

    const other = await newKey('other.pem');
    const refused = await skillPack('check', 'pack.json', '--publishers', other);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The signature of pack.json does not match'),
    });
  });

  it('makes the pack of somebody else yours with --publisher', async () => {
    const publishers = await newKey('mine.pem');
    const theirs = join(ROOT, 'examples/packs/invoice-reminders.json');
    const signed = await skillPack(
      ...['sign', theirs, '--publisher', 'acme', '--key', 'mine.pem', '--out', 'mine.json'],
    );
    expect(signed.stdout).toBe(
      `Signed invoice-reminders 1.0.0 of acme. It can be installed where this is set:\nSKILL_PACK_PUBLISHERS=${publishers}\n`,
    );
    const checked = await skillPack('check', 'mine.json', '--publishers', publishers);
    expect(checked, checked.stderr).toMatchObject({ code: 0 });
  });

  it('signs nothing that could not be installed, and says why', async () => {
    await newKey('strict.pem');
    const manifest = await file(
      'faulty.json',
      manifestOf({
        version: '1',
        skills: [{ ...REMINDER, capo: 'capo_finance' }],
      }),
    );
    const { code, stderr, stdout } = await skillPack('sign', manifest, '--key', 'strict.pem');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('manifest.version: manifest.version must be three numbers');
    const orders = await file(
      'orders.json',
      manifestOf({ standingOrders: [{ ...FILES_DOCUMENTS, match: { actionTypes: ['fax.send'] } }] }),
    );
    const unknown = await skillPack('sign', orders, '--key', 'strict.pem');
    expect(unknown.stderr).toContain(
      'manifest.standingOrders.0.match.actionTypes.0: fax.send is not an action type',
    );
  });

  it('signs a list of revocations', async () => {
    await newKey('revokes.pem');
    const list = {
      publisher: 'acme',
      number: 1,
      revoked: [{ name: 'invoice-reminders', reason: 'Refunded.' }],
    };
    const signed = await skillPack('revoke', await file('list.json', list), '--key', 'revokes.pem');
    expect(JSON.parse(signed.stdout)).toEqual({ list, signature: expect.stringMatching(/^[\w-]{86}$/) });
    const faulty = await skillPack(
      'revoke',
      await file('bad.json', { ...list, number: 0 }),
      '--key',
      'revokes.pem',
    );
    expect(faulty).toMatchObject({ code: 1, stderr: expect.stringContaining('list.number') });
  });

  it.each([[[]], [['sign']], [['keys', 'more']], [['burn', 'x.json']], [['check', 'x.json', '--force']]])(
    'shows how it is used for %j',
    async (given) => {
      const { code, stderr } = await skillPack(...given);
      expect([code, stderr.startsWith('Use one of:')]).toEqual([1, true]);
    },
  );

  it.each(['sign', 'check', 'revoke'])(
    'says so when the file of %s cannot be read, or is no JSON',
    async (command) => {
      expect((await skillPack(command, 'none.json')).stderr).toBe('none.json cannot be read.\n');
      await writeFile(join(folder, 'text.json'), 'text');
      expect((await skillPack(command, 'text.json')).stderr).toBe('text.json is not JSON.\n');
    },
  );
});

describe('the packs of examples/packs', SLOW, () => {
  const packs = globSync('examples/packs/*.json', { cwd: ROOT }).toSorted();
  let service: TestApp;
  let publishers: string;
  beforeAll(async () => {
    const readme = await readFile(join(ROOT, 'examples/packs/README.md'), 'utf8');
    publishers = /SKILL_PACK_PUBLISHERS=(\S+)/.exec(readme)![1]!;
    service = await startTestApp({ SKILL_PACK_PUBLISHERS: publishers });
  });
  afterAll(() => service.close());

  it('are two', () => {
    expect(packs.map((path) => basename(path))).toEqual([
      'invoice-reminders.json',
      'order-delay-notices.json',
    ]);
  });

  it.each(packs)('%s passes the check of the script', async (path) => {
    const checked = await skillPack('check', join(ROOT, path), '--publishers', publishers);
    expect(checked, checked.stderr).toMatchObject({ code: 0 });
  });

  it.each(packs)('%s installs with skills without findings and orders as drafts', async (path) => {
    const answer = await service.owner.post('/skill-packs', await readFile(join(ROOT, path), 'utf8'));
    expect(answer.status, answer.text).toBe(202);
    const pack = await eventually(
      async () => (await service.owner.get(`/skill-packs/${answer.body.packId}`)).body,
      ({ status }) => status === 'installed',
    );
    expect(pack.skills.map(({ score }: { score: number }) => score)).toEqual([1, 1]);
    const statuses = pack.standingOrders.map(({ status }: { status: string }) => status);
    expect(statuses).toEqual(['arrived', 'arrived', 'arrived']);
  });
});
