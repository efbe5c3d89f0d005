// `npm start`: plain JavaScript for any Node.js, so that one that is too old, or a project that is not built, is answered
// with a sentence and not with a stack.
import { existsSync } from 'node:fs';

const OLDEST = 24;

const main = new URL('../dist/src/main.js', import.meta.url);
if (Number(process.versions.node.split('.')[0]) < OLDEST)
  refuse(
    `Consigliere needs Node.js ${OLDEST} or newer, and this is ${process.versions.node}. \`npm ci\` installs one beside it, which \`npm start\` uses.`,
  );
else if (!existsSync(main)) refuse('Consigliere is not built yet. Run `npm ci`, which builds it.');
else if (readsEnvFile()) await import(main.href);

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

function refuse(message) {
  console.error(message);
  process.exitCode = 1;
}
