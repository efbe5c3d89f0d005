import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeProgram } from '../../../clients/cli/dist/program.js';
import { allFound, programPath } from '../../support/programs.js';
import type { TestApp } from '../../support/test-app.js';

export const MAIN = new URL('../../../clients/cli/bin.js', import.meta.url).pathname;
const python = programPath('python3');

/** Whether commands can be run in a pseudo-terminal on this machine. */
export const hasTerminal = allFound('consigliere in a terminal', { python3: python });

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Waits for a text on the screen, runs a command if there is one, and then types. */
type Step = [seen: string, typed: string, before?: string[]];

interface Surroundings {
  env?: Record<string, string>;
  cwd?: string;
}

/** Every command of the program, as the words that name it. */
export function commandNames(
  of: ReturnType<typeof makeProgram> = makeProgram(),
  before: string[] = [],
): string[] {
  return of.commands
    .filter((command) => command.name() !== '__complete')
    .flatMap((command) => {
      const words = [...before, command.name()];
      const below = commandNames(command, words);
      // Of what has commands below it, these two do something by themselves.
      const name = words.join(' ');
      return below.length === 0 || /^(mcp|hook claude-code)$/.test(name) ? [name, ...below] : below;
    });
}

/** An address on this machine at which nothing answers. */
export async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

export class Shell {
  /** The words of each command line so far. */
  static readonly ran = new Set<string>();
  #commands = 0;

  private constructor(
    private readonly test: TestApp,
    /** Where its configuration is; nothing else is in its folder. */
    readonly folder: string,
    private readonly token: string | undefined,
  ) {}

  /** Runs commands as someone with this token, or with none. */
  static async of(test: TestApp, token?: string): Promise<Shell> {
    return new Shell(test, await mkdtemp(join(tmpdir(), 'consigliere-cli-')), token);
  }

  /** In a pipe. `input` is what stands on standard input. */
  async run(args: string[], { input, ...more }: Surroundings & { input?: string } = {}): Promise<Ran> {
    const child = this.start(args, more);
    const ran = output(child);
    child.stdin.on('error', () => undefined).end(input ?? '');
    return ran;
  }

  /** The same, its standard output read as JSON. */
  async json<T = any>(args: string[], more: Surroundings & { input?: string } = {}): Promise<T> {
    const { code, stdout, stderr } = await this.run([...args, '--json'], more);
    if (code !== 0) throw new Error(`consigliere ${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  start(args: string[], more: Surroundings = {}) {
    const { env, cwd } = this.surroundings(more);
    Shell.ran.add(args.slice(0, 2).join(' ')).add(args[0]!);
    return spawn(process.execPath, [MAIN, ...args], { env, cwd, stdio: 'pipe' });
  }

  /** A command line of a shell, in which `consigliere` is this command. */
  async line(text: string, more: Surroundings = {}): Promise<Ran> {
    const { env, cwd } = this.surroundings(more);
    const script = `consigliere() { '${process.execPath}' '${MAIN}' "$@"; }\n${text}`;
    const child = spawn('bash', ['-c', script], { env, cwd, stdio: 'pipe' });
    child.stdin.end();
    return output(child);
  }

  /**
   * In a pseudo-terminal. Each step waits until its text stands on the screen, runs a command of ours if there is one, and then
   * types; what was on the screen comes back, with what a terminal would obey left out.
   */
  async type(
    args: string[],
    steps: Step[],
    { columns = 80, ...more }: Surroundings & { columns?: number } = {},
  ): Promise<{ code: number; screen: string; raw: string }> {
    const { env, cwd } = this.surroundings(more);
    const ours = (line: string[]) => [process.execPath, MAIN, ...line];
    const told = steps.map(([seen, typed, before]): Step =>
      before ? [seen, typed, ours(before)] : [seen, typed],
    );
    return atTerminal(ours(args), told, { env, cwd, columns });
  }

  /** Another program in a pseudo-terminal, in the surroundings of this one. */
  async terminal(command: string[], steps: Step[], more: Record<string, string> = {}) {
    return atTerminal(command, steps, this.surroundings({ env: more }));
  }

  private surroundings({ env = {}, cwd = this.folder }: Surroundings): Required<Surroundings> {
    // Every command comes from one address: a minute later its limits begin anew.
    if (++this.#commands % 8 === 0) this.test.clock.advance(60_000);
    return {
      cwd,
      env: {
        PATH: process.env['PATH']!,
        HOME: this.folder,
        CONSIGLIERE_CONFIG_DIR: join(this.folder, 'config'),
        CONSIGLIERE_BASE_URL: this.test.url,
        ...(this.token !== undefined && { CONSIGLIERE_TOKEN: this.token }),
        ...env,
      },
    };
  }
}

/** A program in a pseudo-terminal; what was on the screen comes back, with what a terminal would obey left out of `screen`. */
export async function atTerminal(
  command: string[],
  steps: Step[],
  { env, cwd, columns = 80 }: Required<Surroundings> & { columns?: number },
): Promise<{ code: number; screen: string; raw: string }> {
  const child = spawn(python!, ['-c', TYPIST], {
    env: { ...env, TERM: 'xterm-256color' },
    cwd,
    stdio: 'pipe',
  });
  child.stdin.end(JSON.stringify({ command, steps, columns }));
  const { stdout, stderr } = await output(child);
  if (!stdout) throw new Error(stderr);
  const { code, raw } = JSON.parse(stdout) as { code: number; raw: string };
  // oxlint-disable-next-line no-control-regex -- exactly these are left out
  return { code, raw, screen: raw.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', '') };
}

async function output(child: ReturnType<Shell['start']>): Promise<Ran> {
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** A person at a terminal: waits for a text, types, and reads on until the command has ended. */
const TYPIST = `
import fcntl, json, os, pty, select, struct, subprocess, sys, termios, time
told = json.load(sys.stdin)
pid, terminal = pty.fork()
if pid == 0:
    time.sleep(0.05)
    os.execvpe(told['command'][0], told['command'], os.environ)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 40, told['columns'], 0, 0))
seen, at, steps, until = b'', 0, list(told['steps']), time.time() + 50
while True:
    ready, _, _ = select.select([terminal], [], [], 0.2)
    if ready:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            break
        if not chunk:
            break
        seen += chunk
    while steps and seen.find(steps[0][0].encode(), at) >= 0:
        at = seen.find(steps[0][0].encode(), at) + len(steps[0][0].encode())
        time.sleep(0.15)
        step = steps.pop(0)
        if len(step) > 2:
            subprocess.run(step[2], check=True, stdout=subprocess.DEVNULL)
        os.write(terminal, step[1].encode())
    if time.time() > until:
        os.kill(pid, 9)
        sys.stderr.write('still waiting for %s in: %s' % (steps[:1], seen.decode(errors='replace')))
        sys.exit(1)
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(json.dumps({'code': code, 'raw': seen.decode(errors='replace')}))
`;
