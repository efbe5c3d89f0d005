import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** Kills, floods, outages and whole matrices take minutes, so they run on their own: npm run test:faults. */
const faults = process.env.FAULTS === '1';
/** What needs other programs on the machine, such as pgbouncer: npm run test:real. */
const real = process.env.REAL === '1';
/** What holds the clients against packages that are not installed with the project: npm run test:integrations. */
const integrations = process.env.INTEGRATIONS === '1';
const apart = faults ? 'faults' : real ? 'real' : integrations ? 'integrations' : undefined;

export default defineConfig({
  test: {
    environment: 'node',
    include: apart ? [`test/${apart}/**/*.spec.ts`] : ['test/**/*.spec.ts', 'src/**/*.spec.ts'],
    exclude: apart
      ? configDefaults.exclude
      : [...configDefaults.exclude, 'test/{faults,real,integrations}/**'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/fresh-file.ts'],
    pool: 'forks',
    execArgv: [`--import=${new URL('test/support/typescript-sources.mjs', import.meta.url).href}`],
    // A worker runs one file after another and imports the application once (docs/decisions/0030). A worker that dies takes
    // its file with it and no other, as long as there are two: one alone would be given all files at once.
    isolate: apart !== undefined,
    maxWorkers: apart ? 1 : Math.max(2, availableParallelism()),
    // A limit ends a test that hangs; how fast the machine is, it does not judge.
    testTimeout: faults ? 15 * 60_000 : 90_000,
    hookTimeout: 120_000,
    teardownTimeout: 15_000,
    reporters: ['default', 'json'],
    outputFile: { json: `test-results/${apart ?? 'vitest'}.json` },
  },
});
