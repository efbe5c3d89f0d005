import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issuerKeys, readLicence } from '../../../src/features/subscription/licence.js';
import { newId } from '../../../src/platform/kernel/ids.js';

const SCRIPT = join(import.meta.dirname, '../../../dist/scripts/issue-licence.js');

let folder: string;
let key: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consigliere-licence-'));
  key = join(folder, 'issuer.pem');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** `npm run licence --`, in a process of its own. */
async function licence(...argumentList: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const done = await promisify(execFile)(process.execPath, [SCRIPT, ...argumentList], { cwd: folder });
    return { code: 0, ...done };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

const WORKSPACE = newId('wks');
const ISSUE = ['issue', '--tier', 'pro', '--workspace', WORKSPACE, '--expires', '2999-11-30'];
const withOption = (name: string, value: string) =>
  ISSUE.map((part, index) => (ISSUE[index - 1] === `--${name}` ? value : part));

describe('npm run licence', () => {
  it('makes a key pair, of which the private half is in a file alone', async () => {
    const { stdout, code } = await licence('keys', '--key', key);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nLICENCE_PUBLIC_KEY=[\w-]{43}\n$/);
    const pem = await readFile(key, 'utf8');
    expect(stdout).not.toContain(pem.split('\n')[1]);
    expect((await stat(key)).mode & 0o777).toBe(0o600);
    // A second one would make what was issued with the first worthless.
    const again = await licence('keys', '--key', key);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') });
    expect(await readFile(key, 'utf8')).toBe(pem);
  });

  it('issues licences that the printed public key checks, each with a higher number', async () => {
    const issuer = join(folder, 'other.pem');
    const { stdout } = await licence('keys', '--key', issuer);
    const issuers = issuerKeys([/LICENCE_PUBLIC_KEY=(.*)\n/.exec(stdout)![1]!]);
    const issue = async (...more: string[]) => {
      const { stdout: printed } = await licence(...ISSUE, '--key', issuer, ...more);
      return (readLicence(printed.trim(), issuers) as { licence: any }).licence;
    };
    const first = await issue('--entitlements', 'sso, skill-packs,sso');
    expect(first).toMatchObject({
      workspaceId: WORKSPACE,
      tier: 'pro',
      entitlements: ['skill-packs', 'sso'],
      expiresAt: Date.UTC(2999, 11, 1),
    });
    const second = await issue();
    expect(second.number).toBeGreaterThan(first.number);
    expect(await issue('--number', '7')).toMatchObject({ number: 7 });
  });

  it.each([
    [[], 'Use one of:'],
    [['issue', '--colour', 'red'], 'Use one of:'],
    [withOption('tier', 'gold'), '--tier must be one of free, pro, enterprise'],
    [withOption('workspace', 'wks_1'), '--workspace must be the id of a workspace: wks_...'],
    [withOption('expires', '2027-02-30'), '--expires must be a day such as 2027-11-30'],
    [withOption('expires', 'soon'), '--expires must be a day such as 2027-11-30'],
    [withOption('expires', '2020-01-01'), '--expires must be after the time of issue'],
    [[...ISSUE, '--entitlements', 'Über'], '--entitlements must be up to 64 of a-z, 0-9, dot, _ and -'],
    [[...ISSUE, '--number', 'seven'], '--number must be a whole number from 1'],
    [
      [...ISSUE, '--key', 'missing.pem'],
      'missing.pem cannot be read. To make a key: npm run licence -- keys',
    ],
  ])('refuses %j and prints no licence', async (argumentList, message) => {
    const { code, stdout, stderr } = await licence('--key', key, ...argumentList);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stdout).toBe('');
  });
});
