import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import type { Role } from '../../../src/platform/auth/caller.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';

export const PASSWORD = 'correct horse battery';

/** A workspace with two teams, and what tests of members do again and again. */
export class TeamDesk {
  private constructor(
    readonly test: TestApp,
    readonly workspaceId: string,
    readonly owner: TestMember,
    readonly teamA: string,
    readonly teamB: string,
  ) {}

  static async open(test?: TestApp): Promise<TeamDesk> {
    const app = test ?? (await startTestApp());
    const { workspaceId, owner } = await app.createWorkspace();
    const teamA = await app.createTeam(workspaceId, 'Marketing');
    const teamB = await app.createTeam(workspaceId, 'Revenue');
    return new TeamDesk(app, workspaceId, owner as TestMember, teamA, teamB);
  }

  /** A member of teams with this role in each of them. */
  async member(role: Role, teams: Record<string, Role> = {}): Promise<TestMember> {
    const member = await this.test.createMember(this.workspaceId, role, Object.keys(teams));
    for (const [teamId, inTeam] of Object.entries(teams)) {
      await this.test.rows('update team_members set role = $3 where team_id = $1 and member_id = $2', [
        teamId,
        member.memberId,
        inTeam,
      ]);
    }
    return member;
  }

  async invite(
    email: string,
    { role = 'operator', teamId = this.teamA, by = this.owner } = {},
  ): Promise<any> {
    const answer = await by.post(`/teams/${teamId}/members`, { email, role });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body.invite;
  }

  /** The mail of an invite, once it is in the outbox. */
  async mail(inviteId: string, generation = 1) {
    const file = join(this.test.dataDir, 'outbox', `${inviteId}n${generation}.eml`);
    const bytes = await eventually(() => readFile(file).catch(() => undefined));
    return PostalMime.parse(bytes!);
  }

  /** The token of an invite, from its mail. */
  async token(inviteId: string, generation = 1): Promise<string> {
    const { text } = await this.mail(inviteId, generation);
    return /\/invites\/([\w-]{43})/.exec(text!)![1]!;
  }

  mails(): Promise<string[]> {
    return readdir(join(this.test.dataDir, 'outbox')).catch(() => []);
  }

  /** Somebody without a token, from an address of their own. */
  get anyone(): Client {
    return new Client(this.test.url, undefined);
  }

  accept(token: string, more: object = {}) {
    return this.anyone.post('/invites/accept', {
      token,
      // Two members of a workspace are not called alike.
      displayName: `Jo ${token.slice(0, 8)}`,
      password: PASSWORD,
      ...more,
    });
  }

  /** The actions of the receipts about this record, in their order. */
  async receipts(entityId: string): Promise<string[]> {
    const rows = await this.test.rows<{ action: string }>(
      'select action from receipts where entity_id = $1 order by seq',
      [entityId],
    );
    return rows.map(({ action }) => action);
  }

  /** Everything that is stored about members and teams of this workspace. */
  async stored(): Promise<string> {
    const all = [];
    for (const table of ['teams', 'members', 'team_members', 'invites', 'tokens']) {
      all.push(
        await this.test.rows(
          `select (to_jsonb(t) - 'last_used_at' - 'last_seen_at' - 'mail_status' - 'sealed_token' - 'wrong_passwords')::text as row
           from ${table} t where workspace_id = $1 order by 1`,
          [this.workspaceId],
        ),
      );
    }
    all.push(await this.test.rows('select user_id from users order by 1'));
    return JSON.stringify(all);
  }
}
