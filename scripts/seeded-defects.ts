import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DEFECTS, type SeededDefect } from './seeded-defects.list.js';

/**
 * Shows that the tests can fail: each defect of seeded-defects.list.ts is planted by itself in a copy of the last commit, and
 * the tests named with it have to turn red. A defect that no test notices, or whose text is no longer in the file, is listed
 * and makes the exit code 1. Arguments are parts of titles: only those defects are planted.
 */
const git = (...args: string[]) => {
  const { status, stderr } = spawnSync('git', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
};

const wanted = process.argv.slice(2);
const defects = DEFECTS.filter(
  ({ title }) => wanted.length === 0 || wanted.some((part) => title.includes(part)),
);
const copy = join(mkdtempSync(join(tmpdir(), 'consigliere-seeded-')), 'tree');
git('worktree', 'add', '--quiet', '--detach', copy, 'HEAD');
symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
let unnoticed = 0;
try {
  for (const [index, defect] of defects.entries()) {
    const outcome = plant(defect);
    if (!outcome.noticed) unnoticed++;
    console.log(
      `${index + 1}. ${outcome.noticed ? 'red' : 'NOT NOTICED'}  ${defect.title} (${outcome.detail})`,
    );
  }
} finally {
  git('worktree', 'remove', '--force', copy);
  rmSync(join(copy, '..'), { recursive: true, force: true });
}
console.log(`\n${defects.length - unnoticed} of ${defects.length} seeded defects were noticed.`);
process.exitCode = unnoticed === 0 ? 0 : 1;

/** Plants one defect, runs its tests and takes it out again. */
function plant({ file, from, to, specs, builds }: SeededDefect): { noticed: boolean; detail: string } {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(from)) return { noticed: false, detail: `the text to replace is not in ${file}` };
  const report = join(copy, 'test-results', 'seeded.json');
  rmSync(report, { force: true });
  writeFileSync(
    path,
    text.replaceAll(from, () => to),
  );
  try {
    const program = (name: string) => join(copy, 'node_modules', name);
    const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: copy, stdio: 'ignore' });
    if (builds && run(program('@nestjs/cli/bin/nest.js'), 'build').status !== 0)
      return { noticed: false, detail: 'the build failed' };
    run(
      program('vitest/vitest.mjs'),
      'run',
      ...specs,
      '--reporter=json',
      `--outputFile=${report}`,
      '--bail=1',
    );
  } finally {
    writeFileSync(path, text);
  }
  // A file that does not even load proves nothing: only a test that ran and failed counts.
  if (!existsSync(report)) return { noticed: false, detail: 'the tests did not run' };
  const { numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    numFailedTests: number;
    testResults: { assertionResults: { status: string; fullName: string }[] }[];
  };
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === 'failed');
  return { noticed: numFailedTests > 0, detail: failed?.fullName ?? `green: ${specs.join(', ')}` };
}
