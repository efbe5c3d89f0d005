import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

describe('GET /bootstrap 200', () => {
  it('answers everything that a client needs to begin', async () => {
    const { workspaceId } = await test.createWorkspace('pro');
    const teamId = await test.createTeam(workspaceId, 'Depot');
    const member = await test.createMember(workspaceId, 'operator', [teamId]);
    const before = Date.now();
    const answer = await member.get('/bootstrap');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ratelimit-limit')).toBe('20');
    expect(answer.body).toEqual({
      workspace: {
        workspaceId,
        name: `Workspace ${workspaceId.slice(-4)}`,
        tier: 'pro',
        subscription: { status: 'none', expiresAt: null },
        currency: 'USD',
        timezone: 'UTC',
        locale: 'en',
        presence: 'present',
      },
      operator: {
        memberId: member.memberId,
        userId: expect.stringMatching(/^usr_/),
        handle: `operator ${member.memberId.slice(-4)}`,
        email: expect.stringContaining('@example.com'),
      },
      role: 'operator',
      scopes: null,
      teams: [{ teamId, name: 'Depot', slug: 'depot', role: 'operator' }],
      capos: expect.any(Array),
      guardian: { mode: 'guardrailed', epoch: 0, pending: 0 },
      packs: [],
      counts: { directives: 0, approvals: 0, signals: 0, lostDeliveries: null },
      limits: { requestsPerMinute: 120, requestsPerDay: 10_000 },
      features: { model: false, mailServer: false, licences: false, skillPacks: false, oidc: false },
      apiVersions: ['2026-04'],
      serverTime: expect.any(Number),
    });
    expect(answer.body.capos).toHaveLength(5);
    expect(answer.body.capos[2]).toEqual({
      role: 'capo_ops',
      name: 'Ops',
      engine: 'ops',
      domain: ['delivery', 'logistics', 'execution'],
      status: 'idle',
    });
    expect(answer.body.serverTime).toBeGreaterThanOrEqual(before);
  });

  it('shows every team to an owner, the own ones to others, and no archived one', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const [depot, night, gone] = await Promise.all(
      ['Depot', 'Night', 'Gone'].map((name) => test.createTeam(workspaceId, name)),
    );
    await test.rows('update teams set archived_at = now() where team_id = $1', [gone]);
    const viewer = await test.createMember(workspaceId, 'viewer', [night!, gone!]);
    const teams = async (client: typeof owner) =>
      (await client.get('/bootstrap')).body.teams.map((team: { teamId: string; role: string }) => [
        team.teamId,
        team.role,
      ]);
    expect(await teams(owner)).toEqual([
      [depot, null],
      [night, null],
    ]);
    expect(await teams(viewer)).toEqual([[night, 'viewer']]);
  });

  it('counts what is open and visible to the caller', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const teamId = await test.createTeam(workspaceId, 'Depot');
    const outsider = await test.createMember(workspaceId, 'viewer');
    await owner.post('/directive', { text: 'Write a note on the delivery.', capo: 'capo_ops', teamId });
    const signal = `insert into signals (signal_id, workspace_id, type, severity, title, body, source, created_at,
      acknowledged_at, snoozed_until) values ($1, $2, 'agent', 'info', 't', 'b', '{}', now(), $3, $4)`;
    const hour = 3_600_000;
    const at = (offset: number) => new Date(Date.now() + offset);
    await test.rows(signal, [newId('sig'), workspaceId, null, null]);
    await test.rows(signal, [newId('sig'), workspaceId, null, at(-hour)]);
    await test.rows(signal, [newId('sig'), workspaceId, null, at(hour)]);
    await test.rows(signal, [newId('sig'), workspaceId, at(-hour), null]);
    expect((await owner.get('/bootstrap')).body.counts).toEqual({
      directives: 1,
      approvals: 1,
      signals: 2,
      lostDeliveries: 0,
    });
    expect((await outsider.get('/bootstrap')).body.counts).toEqual({
      directives: 0,
      approvals: 0,
      signals: 2,
      lostDeliveries: null,
    });
  });

  it('has no tier limits for an enterprise, and shows a kill', async () => {
    const { owner } = await test.createWorkspace('enterprise');
    await owner.post('/guardian/killswitch');
    const { body } = await owner.get('/bootstrap');
    expect(body.limits).toMatchObject({ requestsPerMinute: null, requestsPerDay: null });
    expect(body.guardian).toEqual({ mode: 'killed', epoch: 1, pending: 0 });
    expect(body.capos.map(({ status }: { status: string }) => status)).toEqual(Array(5).fill('halted'));
  });

  it('tells what is configured, and no secret of it', async () => {
    const secrets = { model: 'sk-of-the-model', oidc: 'secret-of-the-provider' };
    const configured = await startTestApp({
      MODEL_PROVIDER: 'openai-compatible',
      MODEL_BASE_URL: 'http://127.0.0.1:9/v1',
      MODEL_NAME: 'model-of-the-test',
      MODEL_API_KEY: secrets.model,
      SMTP_URL: 'smtp://user:secret-of-the-mail@127.0.0.1:9',
      MAIL_FROM: 'ada@example.org',
      LICENCE_PUBLIC_KEY: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      SKILL_PACK_PUBLISHERS: 'acme=11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      OIDC_ISSUER: 'https://of-the-test.example',
      OIDC_CLIENT_ID: 'client-of-the-test',
      OIDC_CLIENT_SECRET: secrets.oidc,
      OIDC_DOMAINS: 'example.org',
    });
    try {
      const { body, text } = await configured.owner.get('/bootstrap');
      expect(body.features).toEqual({
        model: true,
        mailServer: true,
        licences: true,
        skillPacks: true,
        oidc: true,
      });
      for (const hidden of [
        ...Object.values(secrets),
        '127.0.0.1',
        'of-the-test',
        '11qYAYKx',
        'of-the-mail',
      ]) {
        expect(text).not.toContain(hidden);
      }
    } finally {
      await configured.close();
    }
  });
});
