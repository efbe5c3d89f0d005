// `npm start`: plain JavaScript for any Node.js, so that one that is too old, or a project that is not built, is answered
// with a sentence and not with a stack.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const OLDEST = 24;

const main = new URL('../dist/src/main.js', import.meta.url);
if (Number(process.versions.node.split('.')[0]) < OLDEST)
  refuse(
    `Consigliere needs Node.js ${OLDEST} or newer, and this is ${process.versions.node}. \`npm ci\` installs one beside it, which \`npm start\` uses.`,
  );
else if (!existsSync(main)) refuse('Consigliere is not built yet. Run `npm ci`, which builds it.');
else if (readsEnvFile()) {
  endWithNpm();
  await import(main.href);
}

function readsEnvFile() {
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    if (error.code !== 'ENOENT') {
      refuse(`The file .env cannot be read (${error.code}). Make it a file that this user may read.`);
      return false;
    }
  }
  return true;
}

/**
 * package.json says `exec`, so that no shell stands between npm and this process: a shell would end at the signal that npm
 * passes on, and leave the service running. (The shell of Windows knows no `exec`, hence the second half of the line there.)
 * npm passes on neither SIGHUP nor SIGKILL; when it is gone, this process ends too.
 */
function endWithNpm() {
  const { npm_lifecycle_event: event, npm_package_json: project } = process.env;
  if (event !== 'start' || project !== fileURLToPath(new URL('../package.json', import.meta.url))) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGHUP');
  }, 500).unref();
}

function refuse(message) {
  console.error(message);
  process.exitCode = 1;
}
