// npm runs this after every install; plain JavaScript for any Node.js. It builds, unless the tools for it were left out.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const nest = fileURLToPath(new URL('../node_modules/@nestjs/cli/bin/nest.js', import.meta.url));
const main = new URL('../dist/src/main.js', import.meta.url);

if (existsSync(nest)) {
  process.exitCode = spawnSync('npm run build', { stdio: 'inherit', shell: true }).status ?? 1;
} else if (!existsSync(main)) {
  console.error(
    'Installed without the build tools (--omit=dev), so nothing is built. Build first: `npm ci && npm prune --omit=dev`, or copy the folder dist from a machine where `npm ci` was run.',
  );
}
