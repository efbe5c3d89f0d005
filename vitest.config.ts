import { configDefaults, defineConfig } from 'vitest/config';

/** Kills, floods and outages take minutes, so they run on their own: npm run test:faults. */
const faults = process.env.FAULTS === '1';

export default defineConfig({
  test: {
    environment: 'node',
    include: faults ? ['test/faults/**/*.spec.ts'] : ['test/**/*.spec.ts', 'src/**/*.spec.ts'],
    exclude: faults ? configDefaults.exclude : [...configDefaults.exclude, 'test/faults/**'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    execArgv: [`--import=${new URL('test/support/typescript-sources.mjs', import.meta.url).href}`],
    // Each worker starts the application against its own database; more of them only wait for the processor.
    maxWorkers: faults ? 1 : 2,
    testTimeout: faults ? 15 * 60_000 : 15_000,
    hookTimeout: 60_000,
    teardownTimeout: 15_000,
    reporters: ['default', 'json'],
    outputFile: { json: faults ? 'test-results/faults.json' : 'test-results/vitest.json' },
  },
});
