import { statSync } from 'node:fs';
import { API_VERSION, APIError, type Consigliere, UnreadableAnswer } from '@consigliere/sdk';
import type { Command } from 'commander';
import { type Context, define } from '../command.js';
import { CliError, EXIT, type ExitCode } from '../errors.js';
import { styled, visible } from '../output.js';
import { clientOf, configurationFile, findSession, type Session, shortPath } from '../session.js';

interface Finding {
  check: string;
  state: 'good' | 'notice' | 'bad';
  found: string;
  /** What to do about it. */
  remedy?: string;
}

/** Beyond this the service refuses signed events. */
const CLOCK_LIMIT_MS = 5 * 60_000;
const CLOCK_NOTICE_MS = 30_000;

export function doctor(program: Command): void {
  define(program, {
    usage: 'doctor',
    summary: 'Find out why something does not work, and what to do about it',
    progress: 'Examining',
    async run(context: Context) {
      const { findings, exitCode } = await examine(context);
      if (exitCode !== EXIT.ok) process.exitCode = exitCode;
      return findings;
    },
    show: (findings) => findings.map(line).join('\n'),
  });
}

function line({ check, state, found, remedy }: Finding): string {
  const sign = { good: styled('green', '✓'), notice: styled('yellow', '!'), bad: styled('red', '✗') }[state];
  return `${sign} ${check}: ${visible(found)}${remedy ? `\n    ${visible(remedy)}` : ''}`;
}

/** Each check needs those before it, so it ends at the first that makes the others pointless. */
async function examine({ options }: Context): Promise<{ findings: Finding[]; exitCode: ExitCode }> {
  const findings: Finding[] = [];
  const add = (check: string, state: Finding['state'], found: string, remedy?: string) => {
    findings.push({ check, state, found, ...(remedy && { remedy }) });
  };
  const answer = (exitCode?: ExitCode) => {
    const isBad = findings.some(({ state }) => state === 'bad');
    return { findings, exitCode: exitCode ?? (isBad ? EXIT.error : EXIT.ok) };
  };

  const file = configurationFile();
  const mode = process.platform === 'win32' ? undefined : statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined && (mode & 0o077) !== 0)
    add(
      'configuration',
      'bad',
      `Other users of this machine can read ${shortPath(file)}.`,
      `chmod 600 ${file}`,
    );
  let session: Session;
  let client: Consigliere;
  try {
    session = findSession(options.profile);
    client = clientOf(session, options.debug === true, { maxRetries: 0, timeout: 10_000 });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    add('sign-in', 'bad', error.message, error.hint);
    return answer(error.exitCode);
  }
  const { baseUrl, tokenFrom, addressFrom } = session;
  add('sign-in', 'good', `The token is from ${tokenFrom}.`);

  try {
    await client.health.checkLiveness();
    add('address', 'good', `${baseUrl} answers (from ${addressFrom}).`);
  } catch (error) {
    if (error instanceof UnreadableAnswer || error instanceof APIError)
      add('address', 'bad', `${baseUrl} is not Consigliere: ${error.message}`, remedyFor(addressFrom));
    else add('address', 'bad', (error as Error).message, `Start the service, or ${remedyFor(addressFrom)}`);
    return answer();
  }
  let found;
  try {
    found = await client.bootstrap.get();
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (error.code === 'UNSUPPORTED_API_VERSION') {
      add(
        'version',
        'bad',
        `This command speaks version ${API_VERSION}. ${error.message}`,
        'Update the older of the two.',
      );
      return answer();
    }
    const isUnknown = error.status === 401;
    const remedy = isUnknown ? 'Sign in again: consigliere login' : undefined;
    add('token', 'bad', error.message, remedy);
    return answer(isUnknown ? EXIT.notSignedIn : undefined);
  }
  add('token', 'good', `${found.operator.email} is ${found.role} of ${found.workspace.name}.`);
  if (found.apiVersions.includes(API_VERSION)) add('version', 'good', `Both speak version ${API_VERSION}.`);
  else
    add(
      'version',
      'bad',
      `The service speaks ${found.apiVersions.join(', ')}, this command ${API_VERSION}.`,
      'Update the older of the two.',
    );

  const apart = Math.abs(found.serverTime - Date.now());
  const clock = `The clocks of the two machines are ${Math.round(apart / 1_000)} s apart.`;
  if (apart > CLOCK_NOTICE_MS)
    add(
      'clock',
      apart > CLOCK_LIMIT_MS ? 'bad' : 'notice',
      clock,
      'Have both set their clock by NTP; signed events are refused at 5 minutes.',
    );
  else add('clock', 'good', clock);

  try {
    await client.health.checkReadiness();
    add('health', 'good', 'The service is ready.');
  } catch (error) {
    add('health', 'bad', (error as Error).message, 'See the log of the service.');
  }
  const { mode: guardian } = found.guardian;
  if (guardian === 'killed')
    add(
      'guardian',
      'notice',
      'The kill switch is engaged: nothing leaves.',
      'Go on with: consigliere guardian revert',
    );
  else if (guardian === 'observe')
    add(
      'guardian',
      'notice',
      'The mode is observe: nothing leaves.',
      'consigliere guardian mode guardrailed',
    );
  else add('guardian', 'good', `The mode is ${guardian}.`);

  if (!found.features.mailServer)
    add(
      'mail',
      'notice',
      'No mail server is set: mail is written to DATA_DIR/outbox and goes to nobody.',
      'Start the service with SMTP_URL.',
    );
  for (const { name, kind, status, reason } of (await client.connectors.list({ limit: 100 })).items) {
    // That a file can be written is no mail that arrives, as the notice above says.
    if (kind === 'mail' && status !== 'red' && !found.features.mailServer) continue;
    if (status === 'green') add(kind, 'good', `${name} works.`);
    else
      add(kind, status === 'red' ? 'bad' : 'notice', `${name}: ${reason}`, `consigliere api GET /connectors`);
  }
  return answer();
}

function remedyFor(addressFrom: string): string {
  return addressFrom.startsWith('profile')
    ? 'sign in with the right address: consigliere login --url <address>'
    : 'set the right address in CONSIGLIERE_BASE_URL.';
}
