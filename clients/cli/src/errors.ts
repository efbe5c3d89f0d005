import { APIError, ConnectionError, ConsigliereError, UnreadableAnswer } from '@consigliere/sdk';
import { CommanderError } from 'commander';
import { say, styled, visible } from './output.js';

/** How the command ended, for scripts. */
export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  notFound: 3,
  notSignedIn: 4,
  limited: 5,
  refused: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What went wrong, in one sentence, and what to do about it in another. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: ExitCode = EXIT.error,
    readonly hint?: string,
    readonly code: string = 'CLI_ERROR',
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

export class UsageError extends CliError {
  constructor(message: string, hint?: string) {
    super(message, EXIT.usage, hint, 'USAGE');
  }
}

/** Someone pressed Ctrl-C, or left a prompt. */
export class Interrupted extends CliError {
  constructor() {
    super('Interrupted.', EXIT.interrupted, undefined, 'INTERRUPTED');
  }
}

interface Told {
  code: string;
  message: string;
  exitCode: ExitCode;
  hint?: string | undefined;
  status?: number;
  requestId?: string | null;
  details?: unknown;
}

function toldOf(error: unknown): Told {
  if (error instanceof CliError) {
    const { code, message, exitCode, hint, cause } = error;
    return { code, message, exitCode, hint, ...(cause instanceof APIError && detailsOf(cause)) };
  }
  if (error instanceof APIError) {
    const { code, message } = error;
    return { code, message, ...ruleOf(error), ...detailsOf(error) };
  }
  if (error instanceof ConnectionError || error instanceof UnreadableAnswer) {
    const isLost = error instanceof ConnectionError;
    const hint = isLost
      ? 'Start the service with `npm start` on its machine, or check the address: consigliere doctor'
      : 'Check the address: consigliere doctor';
    const code = isLost ? 'UNREACHABLE' : 'UNREADABLE_ANSWER';
    return { code, message: error.message, exitCode: EXIT.error, hint };
  }
  if (error instanceof ConsigliereError)
    return { code: error.name, message: error.message, exitCode: EXIT.error };
  const { name, message, code } = error as Error & { code?: string };
  // What the SDK says of an id or an address that is none, or of a missing token.
  if (name === 'TypeError' && message.startsWith('There is no token'))
    return { code: 'NOT_SIGNED_IN', message: NO_TOKEN, exitCode: EXIT.notSignedIn };
  if (name === 'TypeError' && / must be /.test(message))
    return { code: 'USAGE', message, exitCode: EXIT.usage };
  if (code === 'ABORT_ERR' || name === 'AbortError') return toldOf(new Interrupted());
  // A file that cannot be read or written.
  if (/^E[A-Z]+$/.test(code ?? '')) return { code: code!, message, exitCode: EXIT.error };
  return {
    code: 'DEFECT',
    message: `${message}. This is a defect of the command line.`,
    exitCode: EXIT.error,
    hint: 'Please report it with the output of the same command with --debug.',
  };
}

const NO_TOKEN = 'There is no token: set CONSIGLIERE_TOKEN to the token of an agent.';

function detailsOf({ status, requestId, details }: APIError): Pick<Told, 'status' | 'requestId' | 'details'> {
  return { status, requestId, details };
}

function ruleOf({ status, code, retryAfter }: APIError): { exitCode: ExitCode; hint?: string } {
  if (status === 401) return { exitCode: EXIT.notSignedIn };
  if (status === 404) return { exitCode: EXIT.notFound };
  if (status === 429) {
    const hint = retryAfter === null ? undefined : `Try again in ${Math.ceil(retryAfter)} s.`;
    return { exitCode: EXIT.limited, ...(hint && { hint }) };
  }
  const [exitCode, hint] = RULES[code] ?? [EXIT.error];
  return { exitCode, ...(hint && { hint }) };
}

const RULES: Record<string, [exitCode: ExitCode, hint?: string]> = {
  GUARDIAN_HALTED: [EXIT.refused, 'See why with `consigliere guardian status`.'],
  POLICY_DENIED: [EXIT.refused],
  VALIDATION_FAILED: [EXIT.usage],
  MALFORMED_JSON: [EXIT.usage],
  FORBIDDEN: [EXIT.error, 'See your role with `consigliere whoami`.'],
  UNSUPPORTED_API_VERSION: [EXIT.error, 'The service is of another version: update the older of the two.'],
  CONTENT_CHANGED: [EXIT.error, 'It has changed since it was read: read it again, then decide.'],
  INPUT_REQUIRED: [EXIT.error, 'Complete it with `consigliere approvals edit <approvalId>`.'],
};

/** Tells on standard error what went wrong; answers the exit code. */
export function report(error: unknown, { isJson, isDebug }: { isJson: boolean; isDebug: boolean }): ExitCode {
  const { exitCode, ...told } = toldOf(error);
  if (isJson) process.stderr.write(`${visible(JSON.stringify({ error: { ...told, exitCode } }))}\n`);
  else if (exitCode !== EXIT.interrupted) {
    say(`${styled(['red', 'bold'], 'Error:', process.stderr)} ${visible(told.message)}`);
    if (told.hint) say(told.hint);
    if (told.status !== undefined && told.status >= 500 && told.requestId) say(`Request: ${told.requestId}`);
  }
  if (isDebug && error instanceof Error) say(error.stack ?? '');
  return exitCode;
}

/** What commander throws: help that was asked for ends with 0, everything else is usage, and said already. */
export function exitCodeOf(error: CommanderError): ExitCode {
  return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
}
