import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Callers } from '../../../src/platform/auth/callers.js';
import { actorOf } from '../../../src/platform/auth/caller.js';
import { InvalidTransition } from '../../../src/platform/kernel/errors.js';
import type { NewToken } from '../../../src/features/workspaces/tokens.dto.js';
import { TokensStopped, TokenService } from '../../../src/features/workspaces/token.service.js';
import { eventually, type TestMember } from '../../support/test-app.js';
import { HOUR_MS, TokenDesk } from './token-desk.js';

let desk: TokenDesk;
/** The chains of tokens that were stopped, as a feature is told that keeps what they ask for. */
const stopped: { roots: readonly string[]; by: string }[] = [];
let refuse = false;

beforeAll(async () => {
  desk = await TokenDesk.open();
  desk.test.app.get(TokensStopped).subscribe(async (workspaceId, roots, by) => {
    if (refuse) throw new InvalidTransition({ message: 'It cannot be withdrawn.' });
    if (workspaceId === desk.workspaceId) stopped.push({ roots, by: by.id });
  });
});
afterAll(() => desk.test.close());

let made = 0;
const agent = (body: object = {}, by?: TestMember) =>
  desk.create({ agent: { name: `Robot ${++made}` }, tools: ['crm.*'], ...body }, by);
const pause = (tokenId: string, by: { token: string } = desk.owner) =>
  desk.as(by).post(`/tokens/${tokenId}/pause`);
const resume = (tokenId: string, by: { token: string } = desk.owner) =>
  desk.as(by).post(`/tokens/${tokenId}/resume`);
const callerOf = ({ token }: NewToken) => desk.test.app.get(Callers).identify(token);

describe('POST /tokens for an agent 201', () => {
  it('makes a token that can only ask, and acts as the agent', async () => {
    const body = { agent: { name: ' CRM  cleaner ' }, tools: ['crm.contacts.*', 'mailer.send'] };
    const token = await desk.create(body);
    expect(token).toMatchObject({ scopes: ['request'], agent: { name: 'CRM cleaner' }, tools: body.tools });
    const caller = await callerOf(token);
    expect(caller).toMatchObject({
      memberId: desk.owner.memberId,
      scopes: ['request'],
      agent: { name: 'CRM cleaner' },
      tools: body.tools,
      tokenRootId: token.tokenId,
    });
    expect(actorOf(caller)).toEqual({ type: 'agent', id: token.tokenId, name: 'CRM cleaner', via: 'api' });
    expect(await desk.receipts(token.tokenId)).toMatchObject([
      { details: { agent: 'CRM cleaner', tools: body.tools, scopes: ['request'] } },
    ]);
    const listed = (await desk.as(desk.owner).get('/tokens')).body.items;
    expect(listed).toContainEqual(
      expect.objectContaining({ tokenId: token.tokenId, agent: { name: 'CRM cleaner' } }),
    );
  });
});

describe('POST /tokens 409', () => {
  it('refuses the name of another agent until that token is revoked, to two at the same time as well', async () => {
    const body = { name: 'x', agent: { name: 'Twin' }, tools: ['crm.*'] };
    const both = await Promise.all([
      desk.as(desk.owner).post('/tokens', body),
      desk.as(desk.admin).post('/tokens', { ...body, agent: { name: 'TWIN' } }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const first = both.find(({ status }) => status === 201)!.body;
    expect(both.find(({ status }) => status === 409)!.body.error.code).toBe('ALREADY_EXISTS');
    await desk.as(desk.owner).delete(`/tokens/${first.tokenId}`);
    expect((await desk.as(desk.owner).post('/tokens', body)).status).toBe(201);
  });

  it('refuses the one that is too many, also of twelve at the same time', async () => {
    const { workspaceId, owner } = await desk.test.createWorkspace();
    await desk.test.rows(
      `insert into tokens (token_id, workspace_id, member_id, name, token_hash, hint, scopes, tools, agent_name, agent_name_key)
       select $1 || i, $1, member_id, 'x', $1 || i, 'xxxx', '{request}', '{crm.*}', i, i
       from members, generate_series(1, 99) i where workspace_id = $1`,
      [workspaceId],
    );
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        owner.post('/tokens', { name: 'x', agent: { name: `Robot ${n}` }, tools: ['crm.*'] }),
      ),
    );
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1);
  });
});

describe('POST /tokens 422', () => {
  const named = { agent: { name: 'Robot' }, tools: ['crm.*'] };
  it.each([
    [{ agent: { name: 'Robot' } }, 'tools'],
    [{ tools: ['crm.*'] }, 'tools'],
    [{ ...named, tools: [] }, 'tools'],
    [{ ...named, tools: ['*'] }, 'tools'],
    [{ ...named, tools: ['crm.*', 'crm.*'] }, 'tools'],
    [{ ...named, tools: Array.from({ length: 51 }, (_, n) => `t${n}`) }, 'tools'],
    [{ ...named, tools: 'crm.*' }, 'tools'],
    [{ ...named, tools: [null] }, 'tools'],
    [{ ...named, scopes: ['read'] }, 'scopes'],
    [{ ...named, scopes: ['request', 'read'] }, 'scopes'],
    [{ ...named, agent: { name: 'Consigliere' } }, 'agent.name'],
    [{ ...named, agent: { name: 'a\u202eb' } }, 'agent.name'],
    [{ ...named, agent: {} }, 'agent.name'],
    [{ ...named, agent: 'Robot' }, 'agent'],
    [{ ...named, agent: [] }, 'agent'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['write'] }, 'scopes'],
    [{ scopes: ['read', 'read'] }, 'scopes'],
    [{ scopes: 'read' }, 'scopes'],
  ])('refuses %j', async (body, path) => {
    const answer = await desk.as(desk.owner).post('/tokens', { name: 'x', ...body });
    expect(answer.status).toBe(422);
    expect(answer.body.error.details.map((fault: { path: string }) => fault.path)).toContain(path);
  });
});

describe('a limited token', () => {
  it('gives no rights that it lacks: by making, rotating or resuming', async () => {
    const limited = await desk.create({ scopes: ['admin'] });
    const full = await desk.create();
    await pause(full.tokenId);
    const as = desk.as(limited);
    const answers = await Promise.all([
      as.post('/tokens', { name: 'x' }),
      as.post('/tokens', { name: 'x', scopes: ['admin', 'decide'] }),
      as.post(`/tokens/${full.tokenId}/rotate`),
      as.post(`/tokens/${full.tokenId}/resume`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect(answers.map(({ body }) => body.error.details)).toEqual(
      answers.map(() => ({ requiredScopes: expect.arrayContaining(['decide']) })),
    );
    expect((await as.post('/tokens', { name: 'x', scopes: ['operate'] })).status).toBe(201);
    expect(
      (await as.post('/tokens', { name: 'x', agent: { name: 'Of a limited one' }, tools: ['crm'] })).status,
    ).toBe(201);
  });

  it('operates without what takes an admin, though its member is one', async () => {
    const as = desk.as(await desk.create({ scopes: ['operate', 'decide'] }));
    const order = { name: 'Memos', effect: 'allow', match: { actionTypes: ['document.file'] } };
    const refused = await as.post('/standing-orders', order);
    expect([refused.status, refused.body.error.details]).toEqual([403, { requiredScopes: ['admin'] }]);
    const denial = { name: 'No mail', effect: 'deny', match: { actionTypes: ['email.send'] } };
    expect((await as.post('/standing-orders', denial)).status).toBe(201);
  });
});

describe('POST /tokens/{id}/rotate 201', () => {
  it('keeps scopes, agent, tools, the pause and the first token of the chain', async () => {
    const first = await agent();
    await pause(first.tokenId);
    stopped.length = 0;
    const second = (await desk.as(desk.owner).post(`/tokens/${first.tokenId}/rotate`)).body;
    const { scopes, agent: name, tools } = first;
    expect(second).toMatchObject({ scopes, agent: name, tools, rotatedFrom: first.tokenId });
    expect(second.pausedBy.id).toBe(desk.owner.memberId);
    await resume(second.tokenId);
    const third = (await desk.as(desk.owner).post(`/tokens/${second.tokenId}/rotate`)).body;
    expect(await desk.row(third.tokenId)).toMatchObject({
      root_id: first.tokenId,
      rotated_from: second.tokenId,
    });
    expect((await callerOf(third)).tokenRootId).toBe(first.tokenId);
    expect(stopped).toEqual([]);
  });
});

describe('POST /tokens/{id}/pause 200', () => {
  it('refuses the token within a second until it is resumed, with receipts', async () => {
    const token = await desk.create({ name: 'paused' });
    expect((await desk.as(token).get('/profile')).status).toBe(200);
    const first = await pause(token.tokenId, desk.admin);
    expect(first.body).toMatchObject({ pausedAt: expect.any(Number), pausedBy: { id: desk.admin.memberId } });
    expect((await pause(token.tokenId)).body).toEqual(first.body);
    const refused = await eventually(
      () => desk.as(token).get('/profile'),
      ({ status }) => status !== 200,
      2,
    );
    expect([refused.status, refused.body.error.code, refused.body.reason]).toEqual([
      403,
      'FORBIDDEN',
      'token_paused',
    ]);
    expect((await desk.as(token).get('/nowhere')).body.reason).toBe('token_paused');
    expect((await resume(token.tokenId)).body).toMatchObject({ pausedAt: null, pausedBy: null });
    await eventually(
      () => desk.as(token).get('/profile'),
      ({ status }) => status === 200,
      2,
    );
    expect((await desk.receipts(token.tokenId)).map(({ action }) => action)).toEqual([
      'token.created',
      'token.paused',
      'token.resumed',
    ]);
  });

  it('refuses changes at once, also where the token was looked up a moment ago', async () => {
    const token = await desk.create();
    const change = () => desk.as(token).put('/profile/notifications', { approvals: 'digest' });
    expect((await change()).status).toBe(200);
    await pause(token.tokenId);
    const refused = await change();
    expect([refused.status, refused.body.reason]).toEqual([403, 'token_paused']);
  });

  it('ends the stream of the token', async () => {
    const token = await desk.create({ scopes: ['read'] });
    const response = await fetch(`${desk.test.url}/api/pro/feed/stream`, {
      headers: { 'x-service-token': token.token },
    });
    expect(response.status).toBe(200);
    await pause(token.tokenId);
    await expect(response.text()).resolves.toEqual(expect.stringContaining('retry:'));
  });

  it('lets a viewer pause their own token, and an admin alone resume it', async () => {
    const viewer = await desk.test.createMember(desk.workspaceId, 'viewer');
    const own = await desk.create({ memberId: viewer.memberId });
    const others = await desk.create();
    expect((await pause(others.tokenId, viewer)).status).toBe(403);
    expect((await pause(own.tokenId, viewer)).status).toBe(200);
    expect((await resume(own.tokenId, viewer)).status).toBe(403);
    expect((await resume(own.tokenId, desk.admin)).status).toBe(200);
  });

  it('is refused for a revoked token, and so is resuming', async () => {
    const { tokenId } = await desk.create();
    await desk.as(desk.owner).delete(`/tokens/${tokenId}`);
    expect([(await pause(tokenId)).status, (await resume(tokenId)).status]).toEqual([409, 409]);
  });
});

describe('what a stopped token has asked for', () => {
  it('is withdrawn in the transaction of the pause, the revocation, or the removal of its member', async () => {
    const { memberId } = await desk.test.createMember(desk.workspaceId, 'operator');
    const tokens = await Promise.all([agent(), agent(), agent({ memberId })]);
    const [paused, revoked, ofRemoved] = tokens.map(({ tokenId }) => tokenId);
    refuse = true;
    expect((await pause(paused!)).status).toBe(409);
    expect(await desk.row(paused!)).toMatchObject({ paused_at: null });
    refuse = false;
    stopped.length = 0;
    await pause(paused!);
    await desk.as(desk.admin).delete(`/tokens/${revoked}`);
    await desk.as(desk.owner).delete(`/members/${memberId}`);
    const by = [desk.owner.memberId, desk.admin.memberId, desk.owner.memberId];
    const ids = [[paused], [revoked], expect.arrayContaining([ofRemoved])];
    expect(stopped).toEqual(ids.map((roots, n) => ({ roots, by: by[n] })));
  });
});

describe('GET /agents', () => {
  it('shows every member the agents with their tokens, and no hint', async () => {
    const { workspaceId } = await desk.test.createWorkspace();
    const owner = await desk.test.createMember(workspaceId, 'owner');
    const viewer = await desk.test.createMember(workspaceId, 'viewer');
    const [active, idle, paused, revoked, expired] = [
      await agent({ memberId: viewer.memberId }, owner),
      await agent({}, owner),
      await agent({}, owner),
      await agent({}, owner),
      await agent({ expiresAt: Date.now() + HOUR_MS }, owner),
    ];
    await desk.create({}, owner);
    await desk.as(active).get('/profile');
    await desk.test.app.get(TokenService).noteUse();
    await pause(paused.tokenId, owner);
    await desk.as(owner).delete(`/tokens/${revoked.tokenId}`);
    await desk.test.rows('update tokens set expires_at = now() where token_id = $1', [expired.tokenId]);
    const { body } = await desk.as(viewer).get('/agents');
    expect(body.agents).toHaveLength(5);
    expect(body.outsideAgents).toEqual([
      {
        tokenId: active.tokenId,
        name: active.agent!.name,
        tools: ['crm.*'],
        status: 'active',
        statusReason: 'It sent a request within the last 24 hours.',
        pendingRequests: 0,
        memberId: viewer.memberId,
        memberName: active.memberName,
        madeBy: [owner.memberId],
        pausedBy: null,
        lastUsedAt: expect.any(Number),
        createdAt: active.createdAt,
      },
      expect.objectContaining({
        tokenId: idle.tokenId,
        status: 'idle',
        statusReason: 'It has sent no request yet.',
        lastUsedAt: null,
      }),
      expect.objectContaining({
        tokenId: paused.tokenId,
        status: 'paused',
        statusReason: expect.stringMatching(/^Paused by \S+/),
        pausedBy: expect.objectContaining({ id: owner.memberId }),
      }),
    ]);
  });
});
