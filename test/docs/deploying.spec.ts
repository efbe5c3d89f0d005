import { execFile } from 'node:child_process';
import { access, constants, glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { allFound, programPath } from '../support/programs.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFile(join(ROOT, file), 'utf8');
const run = promisify(execFile);
const { version, license, description, scripts } = JSON.parse(await read('package.json'));

const analyze = programPath('systemd-analyze');
describe.skipIf(!allFound('the systemd unit', { 'systemd-analyze': analyze }))('the systemd unit', () => {
  let folder: string;
  let unit: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consigliere-unit-'));
    // An instance of the template, with this project as the one that is installed: systemd looks whether its programs exist.
    unit = join(folder, 'consigliere@api.service');
    const template = await read('deploy/systemd/consigliere@.service');
    await writeFile(unit, template.replaceAll('/opt/consigliere', ROOT));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is understood by systemd, and confines the process', async () => {
    const { stdout, stderr } = await run(analyze!, ['verify', '--man=no', unit]);
    expect(stdout + stderr).toBe('');
    // Fails above the threshold, in tenths: systemd calls up to 2.0 OK, and 9.6 is a unit that confines nothing.
    await run(analyze!, ['security', '--offline=true', '--threshold=20', '--no-pager', unit]);
  });

  it('finds a mistake in it', async () => {
    const wrong = join(folder, 'consigliere@wrong.service');
    await writeFile(wrong, (await readFile(unit, 'utf8')).replace('.bin/node ', '.bin/nod '));
    await expect(run(analyze!, ['verify', '--man=no', wrong])).rejects.toThrow('is not executable');
  });

  it('starts the same program as npm start and the image, and leaves it the time to end', async () => {
    const text = await readFile(unit, 'utf8');
    const [, command] = /^ExecStart=(.*)$/m.exec(text)!;
    const [program, ...args] = command!.split(' ');
    await access(program!, constants.X_OK);
    const image = JSON.parse(
      /^CMD (.*)$/m.exec((await read('docker/Dockerfile')).replace(/^HEALTHCHECK.*$/m, ''))![1]!,
    );
    expect(['node', ...args]).toEqual(image);
    expect(scripts.start).toContain(args[0]);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)![1])).toBeGreaterThanOrEqual(5 + 30);
  });
});

it('the image names its title, version, commit and licence in the words of the OCI', async () => {
  const instruction = /^LABEL ((?:.*\\\n)*.*)$/m.exec(await read('docker/Dockerfile'))![1]!;
  const labels = [...instruction.matchAll(/org\.opencontainers\.image\.(\w+)="([^"]*)"/g)];
  expect(Object.fromEntries(labels.map(([, name, value]) => [name, value]))).toEqual({
    title: 'Consigliere',
    description,
    version,
    revision: '${REVISION}',
    licenses: license,
  });
});

interface Component {
  name: string;
  purl: string;
  licenses?: unknown[];
}
interface LockedPackage {
  version?: string;
  dev?: boolean;
  link?: boolean;
}

it('npm run sbom lists what runs, in the service and in its pages, and none of the build tools', async () => {
  const { stdout } = await run('npm', ['run', '--silent', 'sbom'], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
  });
  const { bomFormat, metadata, components } = JSON.parse(stdout) as {
    bomFormat: string;
    metadata: { component: Component & { type: string } };
    components: Component[];
  };
  const { type, name, purl } = metadata.component;
  expect([bomFormat, type, name, purl]).toEqual([
    'CycloneDX',
    'application',
    'consigliere',
    `pkg:npm/consigliere@${version}`,
  ]);
  const listed = components.map((one) => decodeURIComponent(one.purl));
  const { packages } = JSON.parse(await read('package-lock.json')) as {
    packages: Record<string, LockedPackage>;
  };
  const locked = Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path, one]) => ({
      purl: `pkg:npm/${path.split('node_modules/').at(-1)}@${one.version}`,
      isTool: one.dev === true,
    }));
  const running = new Set(locked.filter(({ isTool }) => !isTool).map((one) => one.purl));
  expect([...running].filter((one) => !listed.includes(one))).toEqual([]);

  const imported = new Set<string>();
  for await (const file of glob('clients/dashboard/src/**/*.{ts,tsx}', { cwd: ROOT })) {
    for (const [, from] of (await read(file)).matchAll(/from '((?:@[\w-]+\/)?[\w-]+)[^']*'/g))
      imported.add(from!);
  }
  imported.delete('@consigliere/sdk');
  expect(imported.size).toBeGreaterThan(3);
  const names = listed.map((one) => one.slice('pkg:npm/'.length, one.lastIndexOf('@')));
  expect([...imported].filter((one) => !names.includes(one))).toEqual([]);
  // What is not needed by the service comes with the pages: none of it builds, checks or tests.
  const inPages = locked.filter((one) => !running.has(one.purl) && listed.includes(one.purl));
  expect(inPages.length).toBeLessThan(40);
  for (const tool of ['vite', 'vitest', '@nestjs/cli', 'oxlint', 'knip', '@types/react'])
    expect(names).not.toContain(tool);

  const unlicensed = components.filter(({ licenses }) => !licenses?.length);
  // Both are MIT, as their LICENSE says and their package.json does in a form of before 2014.
  expect(unlicensed.map((one) => one.name)).toEqual(['busboy', 'streamsearch']);
});

it('the workflow for GitHub runs .ci/run with the rights to read alone', async () => {
  const workflow = parse(await read('.github/workflows/ci.yml'));
  const steps: { run?: string }[] = workflow.jobs.ci.steps;
  expect(steps.filter((step) => step.run === '.ci/run')).toHaveLength(1);
  expect(workflow.permissions).toEqual({ contents: 'read' });
  await access(join(ROOT, '.ci/run'), constants.X_OK);
});
