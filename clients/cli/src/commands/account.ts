import { AuthenticationError, type BootstrapView } from '@consigliere/sdk';
import type { Command } from 'commander';
import { define, group, readInput } from '../command.js';
import { CliError, EXIT, UsageError } from '../errors.js';
import { say, table, visible } from '../output.js';
import { askSecret } from '../prompts.js';
import {
  clientOf,
  configurationFile,
  credentials,
  isOwnMachine,
  localAddress,
  profileName,
  readConfiguration,
  shortPath,
  tokenRefused,
  urlOf,
  writeConfiguration,
} from '../session.js';

export function account(program: Command): void {
  define(program, {
    usage: 'login',
    summary: 'Sign in with an operator token, and keep it for this user of the machine',
    options: [
      ['--with-token', 'read the token from standard input'],
      ['--url <address>', 'the address of the service'],
    ],
    examples: [
      'consigliere login --url https://ops.example.com',
      'pass show consigliere | consigliere login --with-token --url https://ops.example.com',
      'consigliere login --profile staging --url https://staging.example.com',
    ],
    progress: null,
    async run({ options, isInteractive }: { options: LoginOptions; isInteractive: boolean }) {
      const configuration = readConfiguration();
      const name = profileName(configuration, options.profile);
      const baseUrl = urlOf(
        options.url ??
          process.env['CONSIGLIERE_BASE_URL'] ??
          configuration.profiles[name]?.baseUrl ??
          localAddress(),
      ).href.replace(/\/+$/, '');
      const { token, tokenFrom } = await tokenFor(baseUrl, options, isInteractive);
      const client = clientOf({ baseUrl, token }, options.debug === true);
      const found = await client.bootstrap.get().catch((error: unknown) => {
        throw error instanceof AuthenticationError ? tokenRefused(error, { baseUrl, tokenFrom }) : error;
      });
      const { workspace, operator } = found;
      configuration.profiles[name] = { baseUrl, token, workspace: workspace.name, operator: operator.email };
      configuration.current = name;
      writeConfiguration(configuration);
      if (process.env['CONSIGLIERE_TOKEN'])
        say('CONSIGLIERE_TOKEN is set, and is used instead of the token that was kept now.');
      return { profile: name, ...signedIn(found, baseUrl), file: configurationFile() };
    },
    show: ({ workspace, operator, role, baseUrl, profile, file }) =>
      `Signed in to ${visible(workspace)} at ${baseUrl} as ${operator} (${role}).\nThe token is kept in ${shortPath(file)} as profile ${profile}.`,
  });

  define(program, {
    usage: 'logout',
    summary: 'Remove the token of a profile from this machine; it stays valid',
    progress: null,
    run({ options }) {
      const configuration = readConfiguration();
      const name = profileName(configuration, options.profile);
      if (!Object.hasOwn(configuration.profiles, name))
        throw new CliError(`There is no profile ${name}.`, EXIT.notSignedIn);
      delete configuration.profiles[name];
      configuration.current = Object.keys(configuration.profiles)[0] ?? 'default';
      writeConfiguration(configuration);
      return { profile: name };
    },
    show: ({ profile }) =>
      `The token of profile ${profile} is forgotten here. To revoke it: consigliere tokens revoke <tokenId>`,
  });

  define(program, {
    usage: 'whoami',
    summary: 'Show who you are, where, and where the token was found',
    async run({ client, session }) {
      const { tokenFrom, addressFrom, baseUrl } = session;
      return { ...signedIn(await client.bootstrap.get(), baseUrl), addressFrom, tokenFrom };
    },
  });

  const profiles = group(program, 'profiles', 'Show and choose the services you are signed in to', 'Set-up:');
  define(profiles, {
    usage: 'list',
    summary: 'List the profiles',
    progress: null,
    run() {
      const { current, profiles: kept } = readConfiguration();
      return Object.entries(kept).map(([name, { token: _token, ...profile }]) => {
        return { name, isCurrent: name === current, ...profile };
      });
    },
    show: (found) =>
      table(found, [
        { head: '', cell: ({ isCurrent }) => (isCurrent ? '*' : ' ') },
        { head: 'Name', cell: ({ name }) => name },
        { head: 'Address', cell: ({ baseUrl }) => baseUrl },
        { head: 'Workspace', cell: ({ workspace }) => workspace, shrinks: true },
        { head: 'As', cell: ({ operator }) => operator, shrinks: true },
      ]),
  });
  define(profiles, {
    usage: 'use <name>',
    summary: 'Use this profile from now on',
    progress: null,
    run({ args }) {
      const configuration = readConfiguration();
      const name = args[0]!;
      if (!Object.hasOwn(configuration.profiles, name))
        throw new CliError(`There is no profile ${name}.`, EXIT.notFound);
      writeConfiguration({ ...configuration, current: name });
      return { profile: name };
    },
    show: ({ profile }) => `Commands use profile ${profile} from now on.`,
  });
}

interface LoginOptions {
  withToken?: boolean;
  url?: string;
  profile?: string;
  debug?: boolean;
}

async function tokenFor(
  baseUrl: string,
  { withToken }: LoginOptions,
  isInteractive: boolean,
): Promise<{ token: string; tokenFrom: string }> {
  if (withToken) {
    const token = (await readInput('-')).trim();
    if (token) return { token, tokenFrom: 'standard input' };
    throw new UsageError('Standard input holds no token.');
  }
  const kept = isOwnMachine(baseUrl) ? credentials() : undefined;
  if (kept) {
    say(`Using the token in ${kept.file}.`);
    return { token: kept.token, tokenFrom: kept.file };
  }
  if (isInteractive)
    return { token: await askSecret(`Operator token for ${baseUrl}`), tokenFrom: 'the prompt' };
  throw new UsageError(
    'There is no terminal to ask for a token.',
    'Give it on standard input: consigliere login --with-token < token.txt',
  );
}

function signedIn({ workspace, operator, role, teams }: BootstrapView, baseUrl: string) {
  const { name, workspaceId, tier } = workspace;
  const names = teams.map((team) => team.name);
  return { operator: operator.email, role, workspace: name, workspaceId, tier, teams: names, baseUrl };
}
