// `npm run sbom`: prints what runs, of every platform, as a software bill of materials in CycloneDX. `npm sbom --omit=dev` alone
// also leaves out what both the service and its build tools need, so it is given a lock file without the build tools.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Built into the pages of the dashboard, so it runs although npm installs it for the build alone. */
const IN_PAGES = ['@base-ui/react', '@tanstack/react-query', '@tanstack/react-router', 'react', 'react-dom'];
const DASHBOARD = 'clients/dashboard';

const root = join(import.meta.dirname, '..');
const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const { workspaces } = read('package.json');
const { packages, ...lock } = read('package-lock.json');

const inPages = new Set();
for (const name of IN_PAGES) addInPages(name, DASHBOARD);

/** Finds a package as Node.js does, from the folder of the one that needs it upwards. */
function addInPages(name, neededBy) {
  const folders = neededBy.split(/(?=\/node_modules\/)/);
  const found = folders
    .map((_folder, index) => `${folders.slice(0, folders.length - index).join('')}/node_modules/${name}`)
    .concat(`node_modules/${name}`)
    .find((path) => path in packages);
  if (found === undefined || inPages.has(found)) return;
  inPages.add(found);
  for (const dependency of Object.keys(packages[found].dependencies ?? {})) addInPages(dependency, found);
}

function withoutTools(path, { devDependencies = {}, ...manifest }) {
  if (path !== DASHBOARD) return manifest;
  return {
    ...manifest,
    dependencies: Object.fromEntries(IN_PAGES.map((name) => [name, devDependencies[name]])),
  };
}

const temporary = mkdtempSync(join(tmpdir(), 'sbom-'));
// npm names the whole after its folder.
const folder = join(temporary, 'consigliere');
const write = (file, content) => {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), JSON.stringify(content));
};
try {
  const running = Object.entries(packages)
    .filter(([path, { dev }]) => dev !== true || inPages.has(path))
    .map(([path, entry]) => [path, withoutTools(path, { ...entry, dev: undefined })]);
  write('package-lock.json', { ...lock, packages: Object.fromEntries(running) });
  for (const path of ['', ...workspaces])
    write(join(path, 'package.json'), withoutTools(path, read(join(path, 'package.json'))));
  const options = ['--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
  const { status } = spawnSync('npm', ['sbom', ...options], { cwd: folder, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
