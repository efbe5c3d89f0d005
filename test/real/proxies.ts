import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateFor } from '../support/certificates.js';
import { freePort } from '../support/machine-postgres.js';
import { programPath, startProgram } from '../support/programs.js';

const NAME = 'consigliere.example.com';
const GUIDES = join(import.meta.dirname, '../../docs/guides');

export const PROXIES = ['nginx', 'haproxy'] as const;

/** A proxy of this machine, set up as the guide says, that speaks TLS on a port of loopback. */
export interface Proxy {
  port: number;
  /** Whom its certificate names, and what vouches for it. */
  name: string;
  ca: string;
  stop(): Promise<void>;
}

/**
 * Starts it in front of processes on these two ports.
 * @param change on top of what the guide prints
 */
export async function startProxy(
  program: (typeof PROXIES)[number],
  behind: number[],
  change = (printed: string) => printed,
): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), `consigliere-${program}-`));
  // Workers of a server that root starts are another user.
  await chmod(folder, 0o755);
  const { key, cert } = certificateFor(NAME);
  await writeFile(join(folder, 'key.pem'), key);
  await writeFile(join(folder, 'chain.pem'), cert);
  await writeFile(join(folder, 'chain-and-key.pem'), cert + key);
  const port = await freePort();
  const adapted = change(await snippet('behind-a-proxy', `two-processes.${program}`))
    .replace(/^( *(?:listen|bind)) \S+ ssl/m, `$1 127.0.0.1:${port} ssl`)
    .replaceAll('/etc/ssl/consigliere', folder)
    .replaceAll(/127\.0\.0\.1:300([01])/g, (_address, index) => `127.0.0.1:${behind[Number(index)]}`);
  const file = join(folder, 'proxy.conf');
  await writeFile(file, program === 'nginx' ? nginxConfiguration(folder, adapted) : adapted);
  const flags =
    program === 'nginx'
      ? ['-p', folder, '-c', file, '-e', 'stderr', '-g', 'daemon off;']
      : ['-db', '-f', file];
  const running = await startProgram(programPath(program)!, flags, [port]);
  return {
    port,
    name: NAME,
    ca: cert,
    async stop() {
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The named code block of a guide. */
export async function snippet(page: string, name: string): Promise<string> {
  const guide = await readFile(join(GUIDES, `${page}.md`), 'utf8');
  const found = [...guide.matchAll(/^```\w+ (\S+)\n([^]*?)^```$/gm)].find(([, named]) => named === name);
  if (!found) throw new Error(`the guide has no block ${name}`);
  return found[2]!;
}

/** What Debian's nginx.conf has around the sites, with all files in this folder. */
function nginxConfiguration(folder: string, sites: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n');
  return `pid ${folder}/nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${sites}}\n`;
}
