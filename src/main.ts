import { loadConfig } from './platform/config/config.js';
import { StartRefused } from './platform/kernel/start-refused.js';
import { assertConnectors, assertDataDir, assertPortsFree } from './start-checks.js';

try {
  const config = loadConfig();
  await assertPortsFree(config);
  assertDataDir(config);
  await assertConnectors(config);
  // Only now, since loading the application takes longer than finding out that it cannot start.
  const { run } = await import('./run.js');
  await run(config);
  // A start that was called off may still wait for a database.
  process.exit();
} catch (error) {
  // What is wrong and what to do about it, without a stack; anything else is a defect and shows where it happened.
  console.error(error instanceof StartRefused ? error.message : error);
  process.exit(1);
}
