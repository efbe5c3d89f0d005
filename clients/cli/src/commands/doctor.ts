import { statSync } from 'node:fs';
import {
  API_VERSION,
  APIError,
  AuthenticationError,
  type Consigliere,
  UnreadableAnswer,
} from '@consigliere/sdk';
import type { Command } from 'commander';
import { type Context, define } from '../command.js';
import { CliError, EXIT } from '../errors.js';
import { styled, visible } from '../output.js';
import {
  clientOf,
  configurationFile,
  findSession,
  type Session,
  shortPath,
  tokenRefused,
} from '../session.js';

interface Finding {
  check: string;
  state: 'good' | 'notice' | 'bad';
  found: string;
  /** What to do about it. */
  remedy?: string | undefined;
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
      const findings: Finding[] = [];
      for await (const finding of examine(context)) findings.push(finding);
      if (findings.some(({ state }) => state === 'bad')) process.exitCode ||= EXIT.error;
      return findings;
    },
    show: (findings) => findings.map(line).join('\n'),
  });
}

function line({ check, state, found, remedy }: Finding): string {
  const sign = { good: styled('green', '✓'), notice: styled('yellow', '!'), bad: styled('red', '✗') }[state];
  return `${sign} ${check}: ${visible(found)}${remedy ? `\n    ${visible(remedy)}` : ''}`;
}

const tells =
  (state: Finding['state']) =>
  (check: string, found: string, remedy?: string): Finding => ({ check, state, found, remedy });
const good = tells('good');
const notice = tells('notice');
const bad = tells('bad');

/** Each check needs those before it, so it ends at the first that makes the others pointless. */
async function* examine({ options }: Context): AsyncGenerator<Finding, void, undefined> {
  const file = configurationFile();
  const mode = process.platform === 'win32' ? 0 : (statSync(file, { throwIfNoEntry: false })?.mode ?? 0);
  if ((mode & 0o077) !== 0)
    yield bad(
      'configuration',
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
    process.exitCode = error.exitCode;
    return yield bad('sign-in', error.message, error.hint);
  }
  const { baseUrl, tokenFrom, addressFrom } = session;
  yield good('sign-in', `The token is from ${tokenFrom}.`);

  const mend = addressFrom.startsWith('profile')
    ? 'sign in with the right address: consigliere login --url <address>'
    : 'set the right address in CONSIGLIERE_BASE_URL.';
  try {
    await client.health.checkLiveness();
    yield good('address', `${baseUrl} answers (from ${addressFrom}).`);
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof UnreadableAnswer || error instanceof APIError)
      return yield bad('address', `${baseUrl} is not Consigliere: ${message}`, mend);
    return yield bad('address', message, `Start the service with \`npm start\` on its machine, or ${mend}`);
  }
  let found;
  try {
    found = await client.bootstrap.get();
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (error.code === 'UNSUPPORTED_API_VERSION')
      return yield bad('version', `This command speaks version ${API_VERSION}. ${error.message}`, UPDATE);
    if (!(error instanceof AuthenticationError)) return yield bad('token', error.message);
    const { message, hint, exitCode } = tokenRefused(error, session);
    process.exitCode = exitCode;
    return yield bad('token', message, hint);
  }
  yield good('token', `${found.operator.email} is ${found.role} of ${found.workspace.name}.`);
  yield found.apiVersions.includes(API_VERSION)
    ? good('version', `Both speak version ${API_VERSION}.`)
    : bad(
        'version',
        `The service speaks ${found.apiVersions.join(', ')}, this command ${API_VERSION}.`,
        UPDATE,
      );

  const apart = Math.abs(found.serverTime - Date.now());
  const clock = `The clocks of the two machines are ${Math.round(apart / 1_000)} s apart.`;
  const tellClock = apart > CLOCK_LIMIT_MS ? bad : notice;
  yield apart > CLOCK_NOTICE_MS
    ? tellClock('clock', clock, 'Set both clocks by NTP; signed events are refused at 5 minutes.')
    : good('clock', clock);

  try {
    await client.health.checkReadiness();
    yield good('health', 'The service is ready.');
  } catch (error) {
    yield bad('health', (error as Error).message, 'See the log of the service.');
  }
  const { mode: guardian, epoch } = found.guardian;
  if (guardian === 'killed')
    yield notice(
      'guardian',
      'The kill switch is engaged: nothing leaves.',
      `Go on with: consigliere guardian revert --epoch ${epoch}`,
    );
  else if (guardian === 'observe')
    yield notice('guardian', 'The mode is observe: nothing leaves.', 'consigliere guardian mode guardrailed');
  else yield good('guardian', `The mode is ${guardian}.`);

  if (!found.features.mailServer)
    yield notice(
      'mail',
      'No mail server is set: mail is written to DATA_DIR/outbox and goes to nobody.',
      'Start the service with SMTP_URL.',
    );
  for (const { name, kind, status, reason } of (await client.connectors.list({ limit: 100 })).items) {
    // That a file can be written is no mail that arrives, as the notice above says.
    if (kind === 'mail' && status !== 'red' && !found.features.mailServer) continue;
    const tell = status === 'red' ? bad : notice;
    yield status === 'green'
      ? good(kind, `${name} works.`)
      : tell(kind, `${name}: ${reason}`, 'consigliere api GET /connectors');
  }
}

const UPDATE = 'Update the older of the two.';
