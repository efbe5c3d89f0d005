import { configDefaults, defineConfig } from 'vitest/config';

/** Kills, floods and outages take minutes, so they run on their own: npm run test:faults. */
const faults = process.env.FAULTS === '1';
/** What needs other programs on the machine, such as pgbouncer: npm run test:real. */
const real = process.env.REAL === '1';
const apart = faults ? 'faults' : real ? 'real' : undefined;

export default defineConfig({
  test: {
    environment: 'node',
    include: apart ? [`test/${apart}/**/*.spec.ts`] : ['test/**/*.spec.ts', 'src/**/*.spec.ts'],
    exclude: apart ? configDefaults.exclude : [...configDefaults.exclude, 'test/faults/**', 'test/real/**'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    execArgv: [`--import=${new URL('test/support/typescript-sources.mjs', import.meta.url).href}`],
    // Each worker starts the application against its own database; more of them only wait for the processor.
    maxWorkers: apart ? 1 : 2,
    testTimeout: faults ? 15 * 60_000 : real ? 60_000 : 15_000,
    hookTimeout: 60_000,
    teardownTimeout: 15_000,
    reporters: ['default', 'json'],
    outputFile: { json: `test-results/${apart ?? 'vitest'}.json` },
  },
});
