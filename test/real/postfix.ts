import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from '../support/machine-postgres.js';
import { programPath, startProgram } from '../support/programs.js';

/** A postfix of this machine as the mail server of a company: it asks for a password, greylists, and passes mail on. */
export interface Postfix {
  /** With the right user name and password. */
  url: string;
  /** Which recipients it was asked about, in order, with what its policy said. */
  asked: { recipient: string; answer: 'accepted' | 'deferred'; at: number }[];
  /** Recipients who are asked to come back for so long after they were first named. */
  greylisted: Map<string, number>;
  /** What users sign in with. */
  password: string;
  stop(): Promise<void>;
}

const DOMAIN = 'buyer.example';

/** @param users those at buyer.example who are known; all other recipients there are refused for good
 *  @param nextHop the port of the server that gets the mail */
export async function startPostfix(users: string[], nextHop: number): Promise<Postfix> {
  const program = programPath('postfix')!;
  const folder = await mkdtemp(join(tmpdir(), 'consigliere-postfix-'));
  await chmod(folder, 0o755);
  const [configuration, queue, data] = ['etc', 'queue', 'data'].map((name) => join(folder, name));
  for (const path of [configuration!, queue!, data!]) await mkdir(path);
  const id = async (flag: string) => Number((await promisify(execFile)('id', [flag, 'postfix'])).stdout);
  await chown(data!, await id('-u'), await id('-g'));
  const firstNamed = new Map<string, number>();
  const policy = await startLineServer((lines) => policyAnswer(lines, postfix, firstNamed));
  const passwords = await startLineServer(
    (lines) => passwordAnswer(lines, postfix),
    'VERSION\t1\t2\nMECH\tPLAIN\tplaintext\nSPID\t1\nCUID\t1\nCOOKIE\t0\nDONE\n',
  );
  const port = await freePort();
  const main = {
    compatibility_level: '3.6',
    queue_directory: queue,
    data_directory: data,
    maillog_file: join(folder, 'log'),
    maillog_file_prefixes: folder,
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    myhostname: 'mail.acme.example',
    mydestination: '',
    local_recipient_maps: '',
    alias_maps: '',
    mynetworks: '127.0.0.0/8',
    relay_domains: DOMAIN,
    relay_recipient_maps: `inline:{${users.map((user) => `${user}@${DOMAIN}=known`).join(', ')}}`,
    relayhost: `[127.0.0.1]:${nextHop}`,
    smtpd_sasl_auth_enable: 'yes',
    smtpd_sasl_type: 'dovecot',
    smtpd_sasl_path: `inet:127.0.0.1:${portOf(passwords)}`,
    smtpd_relay_restrictions: 'permit_sasl_authenticated, reject',
    smtpd_recipient_restrictions: `reject_unlisted_recipient, check_policy_service inet:127.0.0.1:${portOf(policy)}`,
  };
  const services = [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'rewrite unix - - n - - trivial-rewrite',
    ...['bounce', 'defer', 'trace'].map((name) => `${name} unix - - n - 0 bounce`),
    ...['relay', 'smtp'].map((name) => `${name} unix - - n - - smtp`),
    ...['error', 'retry'].map((name) => `${name} unix - - n - - error`),
    'anvil unix - - n - 1 anvil',
    'proxymap unix - - n - - proxymap',
    'postlog unix-dgram n - n - 1 postlogd',
  ];
  const lines = Object.entries(main).map(([name, value]) => `${name} = ${value}`);
  await writeFile(join(configuration!, 'main.cf'), `${lines.join('\n')}\n`);
  await writeFile(join(configuration!, 'master.cf'), `${services.join('\n')}\n`);
  const flags = ['-c', configuration!];
  // The master is a child of the process that we start: it is ended by the program's own command, which knows its id.
  const running = await startProgram(program, [...flags, 'start-fg'], [port], () =>
    promisify(execFile)(program, [...flags, 'stop']).catch(() => undefined),
  );
  const postfix: Postfix = {
    url: `smtp://ada:right@127.0.0.1:${port}`,
    asked: [],
    greylisted: new Map(),
    password: 'right',
    async stop() {
      await running.stop();
      policy.close();
      passwords.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return postfix;
}

/** postfix's protocol for policies: attributes in lines, then an empty one; greylisting as postgrey does it. */
function policyAnswer(
  lines: string[],
  { asked, greylisted }: Postfix,
  firstNamed: Map<string, number>,
): string | undefined {
  if (lines.at(-1) !== '') return undefined;
  const recipient = lines.find((line) => line.startsWith('recipient='))!.slice('recipient='.length);
  lines.length = 0;
  const first = firstNamed.get(recipient) ?? Date.now();
  firstNamed.set(recipient, first);
  const deferred = Date.now() < first + (greylisted.get(recipient) ?? 0);
  asked.push({ recipient, answer: deferred ? 'deferred' : 'accepted', at: Date.now() });
  return deferred ? 'action=DEFER_IF_PERMIT Greylisted, come back later\n\n' : 'action=DUNNO\n\n';
}

/** Dovecot's protocol for passwords, as far as postfix needs it for AUTH PLAIN. */
function passwordAnswer(lines: string[], { password }: Postfix): string | undefined {
  const [command, id, , ...parameters] = lines.pop()!.split('\t');
  if (command !== 'AUTH') return undefined;
  const given = parameters.find((parameter) => parameter.startsWith('resp='))!.slice('resp='.length);
  const [, user, said] = Buffer.from(given, 'base64').toString().split('\0');
  return said === password ? `OK\t${id}\tuser=${user}\n` : `FAIL\t${id}\tuser=${user}\n`;
}

/** Gives each connection's lines so far, whenever there is one more; what is answered goes back. */
async function startLineServer(
  answer: (lines: string[]) => string | undefined,
  greeting = '',
): Promise<Server> {
  const server = createServer((socket) => {
    const lines: string[] = [];
    socket.on('error', () => undefined);
    if (greeting) socket.write(greeting);
    createInterface({ input: socket }).on('line', (line) => {
      lines.push(line);
      const said = answer(lines);
      if (said !== undefined) socket.write(said);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;
