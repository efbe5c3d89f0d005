import type { TeamView } from '@consigliere/sdk';
import type { Command } from 'commander';
import { type Context, define, defineCalls, defineList, group } from '../command.js';
import { onOneLine, say } from '../output.js';

export function people(program: Command): void {
  teams(program);
  tokens(program);
}

const TEAM_ROLES = ['viewer', 'operator', 'admin'];

function teams(program: Command): void {
  const all = group(program, 'teams', 'Teams and their members', 'Set-up:');
  defineList(all, {
    summary: 'List teams',
    call: (client, query) => client.teams.list(query),
    columns: ['teamId', 'name', 'memberCount', 'createdAt'],
    empty: 'No teams.',
  });
  defineList(all, {
    usage: 'members <teamId>',
    summary: 'List the members of a team',
    call: (client, query, args) => client.teamMembers.list(args[0]!, query),
    columns: ['memberId', 'displayName', 'email', 'role', 'lastSeenAt'],
    empty: 'No members.',
  });
  defineCalls(all, [
    [
      'create <name>',
      'Create a team',
      (client, name) => client.teams.create({ name }),
      ({ name, teamId }: TeamView) => `${onOneLine(name)} is created: ${teamId}`,
    ],
    [
      'archive <teamId>',
      'Archive a team without open work',
      (client, id) => client.teams.archive(id, {}),
      'is archived.',
    ],
  ]);
  define(all, {
    usage: 'add <teamId> <email>',
    summary: 'Add a member, or invite someone new',
    options: [['--role <role>', 'what they may do there', { choices: TEAM_ROLES, default: 'operator' }]],
    run: async ({ client, args, options }: Context<{ role: 'operator' }>) =>
      client.teamMembers.add(args[0]!, { email: args[1]!, role: options.role }),
    show: ({ member, invite }) =>
      member
        ? `${onOneLine(member.displayName)} is a member now.`
        : `${invite!.email} is invited (${invite!.inviteId}), and gets a mail.`,
  });
  define(all, {
    usage: 'remove <teamId> <memberId>',
    summary: 'Remove a member from a team',
    run: async ({ client, args }) => client.teamMembers.remove(args[0]!, args[1]!),
    show: ({ displayName }) => `${onOneLine(displayName)} is no longer a member of the team.`,
  });
}

interface TokenOptions {
  scope?: ('read' | 'request' | 'operate' | 'decide' | 'admin')[];
  days?: number;
}

function tokens(program: Command): void {
  const all = group(program, 'tokens', 'Tokens of people and agents', 'Set-up:');
  defineList(all, {
    summary: 'List tokens; a token itself is never shown again',
    call: (client, query) => client.tokens.list(query),
    columns: [
      'tokenId',
      { head: 'Name', cell: ({ name, agent }) => (agent ? `${name} (agent)` : name), shrinks: true },
      { head: 'Ends in', cell: ({ hint }) => hint },
      'memberName',
      'lastUsedAt',
    ],
    empty: 'No tokens.',
  });
  define(all, {
    usage: 'create <name>',
    summary: 'Create an operator token for yourself, shown once',
    options: [
      [
        '--scope <scope>',
        'narrow it: read, request, operate, decide, admin; repeat for more',
        { repeats: true },
      ],
      ['--days <n>', 'how long it is valid', { number: true }],
    ],
    run: async ({ client, args, options }: Context<TokenOptions>) =>
      client.tokens.create({
        name: args[0]!,
        scopes: options.scope,
        expiresAt: options.days && Date.now() + options.days * 86_400_000,
      }),
    show: newToken,
  });
  defineCalls(all, [
    [
      'rotate <tokenId>',
      'Replace it with a new one, shown once',
      (client, id) => client.tokens.rotate(id),
      newToken,
    ],
    ['revoke <tokenId>', 'Revoke it at once', (client, id) => client.tokens.revoke(id), 'is revoked.'],
    ['pause <tokenId>', "Pause an agent's token", (client, id) => client.tokens.pause(id), 'is paused.'],
    ['resume <tokenId>', "Resume an agent's token", (client, id) => client.tokens.resume(id), 'works again.'],
  ]);
}

function newToken({ tokenId, token }: { tokenId: string; token: string }): string {
  say(`${tokenId}, shown this once:`);
  return token;
}
