import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Documents, type NewDocument } from '../../../src/features/records/documents.repository.js';
import { type Actor, SYSTEM } from '../../../src/platform/auth/caller.js';
import { violatedConstraint } from '../../../src/platform/database/database-errors.js';
import { Db } from '../../../src/platform/database/db.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';

const CAPO: Actor = { type: 'capo', id: 'capo_ops', name: 'Capo Ops', via: 'policy' };

let test: TestApp;
let viewer: TestMember;
beforeAll(async () => {
  test = await startTestApp();
  viewer = await test.createMember(test.workspaceId, 'viewer');
});
afterAll(() => test.close());

const inWorkspace = <T>(workspaceId: string, work: (documents: Documents) => T | Promise<T>): Promise<T> =>
  test.app.get(Db).transaction({ workspaceId, teamIds: 'all' }, async () => work(test.app.get(Documents)));

const newDocument = (document: Partial<NewDocument> = {}): NewDocument => ({
  teamId: null,
  directiveId: newId('dir'),
  workPacketId: newId('pkt'),
  title: 'Plan for the week',
  body: '# Plan\n\n1. Ship it 🚢',
  createdAt: Date.now(),
  actor: CAPO,
  capo: 'capo_ops',
  ...document,
});

const file = (document: Partial<NewDocument> = {}, workspaceId = test.workspaceId): Promise<string> =>
  inWorkspace(workspaceId, (documents) => documents.file(newDocument(document)));

const receipts = async (documentId: string): Promise<Record<string, unknown>[]> =>
  (
    await test.rows<{ body: string }>('select body from receipts where entity_id = $1 order by seq', [
      documentId,
    ])
  ).map(({ body }) => JSON.parse(body));

describe('filing a document', () => {
  it('stores the row and its receipt in one transaction', async () => {
    const document = newDocument({ documentId: newId('doc') });
    expect(await file(document)).toBe(document.documentId);
    const [row] = await test.rows('select * from documents where document_id = $1', [document.documentId]);
    expect(row).toMatchObject({
      workspace_id: test.workspaceId,
      directive_id: document.directiveId,
      work_packet_id: document.workPacketId,
      title: 'Plan for the week',
      body: '# Plan\n\n1. Ship it 🚢',
      format: 'markdown',
      created_at: new Date(document.createdAt),
      withdrawn_at: null,
    });
    expect(await receipts(document.documentId!)).toMatchObject([
      {
        action: 'document.filed',
        actor: CAPO,
        directiveId: document.directiveId,
        capo: 'capo_ops',
        summary: 'Capo Ops filed a document: Plan for the week',
        details: { workPacketId: document.workPacketId },
      },
    ]);
  });

  it('happens once per packet: a second document takes its whole transaction with it', async () => {
    const workPacketId = newId('pkt');
    await file({ workPacketId });
    const before = await test.rows('select 1 from receipts');
    const again = file({ workPacketId }).catch(violatedConstraint);
    expect(await again).toBe('documents_once_per_packet');
    expect(await test.rows('select 1 from documents where work_packet_id = $1', [workPacketId])).toHaveLength(
      1,
    );
    expect(await test.rows('select 1 from receipts')).toHaveLength(before.length);
  });
});

describe('withdrawing a document', () => {
  it('happens once, with one receipt, and not in another workspace', async () => {
    const documentId = await file();
    const other = await test.createWorkspace();
    expect(await inWorkspace(other.workspaceId, (documents) => documents.withdraw(documentId, SYSTEM))).toBe(
      false,
    );
    expect(await inWorkspace(test.workspaceId, (documents) => documents.withdraw(documentId, SYSTEM))).toBe(
      true,
    );
    expect(await inWorkspace(test.workspaceId, (documents) => documents.withdraw(documentId, SYSTEM))).toBe(
      false,
    );
    const actions = (await receipts(documentId)).map(({ action }) => action);
    expect(actions).toEqual(['document.filed', 'document.withdrawn']);
  });
});

describe('GET /documents 200', () => {
  it('pages through what is filed, newest first, without the texts and without what is withdrawn', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const at = Date.now();
    const ids: string[] = [];
    for (const age of [1, 2, 3, 4]) ids.push(await file({ createdAt: at - age * 1000 }, workspaceId));
    await inWorkspace(workspaceId, (documents) => documents.withdraw(ids[1]!, SYSTEM));
    const first = await owner.get('/documents?limit=2');
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ total: 3, limit: 2, offset: 0 });
    expect(first.body.items.map(({ documentId }: { documentId: string }) => documentId)).toEqual([
      ids[0],
      ids[2],
    ]);
    expect(first.body.items[0]).toEqual({
      documentId: ids[0],
      teamId: null,
      directiveId: expect.stringMatching(/^dir_/),
      workPacketId: expect.stringMatching(/^pkt_/),
      title: 'Plan for the week',
      format: 'markdown',
      createdAt: at - 1000,
      withdrawnAt: null,
    });
    const second = await owner.get('/documents?limit=2&offset=2');
    expect(second.body).toMatchObject({ items: [{ documentId: ids[3] }], total: 3, offset: 2 });
  });

  it('shows a team its own documents, and nobody those of another workspace', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const teamId = await test.createTeam(workspaceId, 'Ops');
    const member = await test.createMember(workspaceId, 'viewer', [teamId]);
    await file({}, workspaceId);
    const documentId = await file({ teamId }, workspaceId);
    expect((await member.get('/documents')).body).toMatchObject({ items: [{ documentId }], total: 1 });
    expect((await owner.get('/documents')).body.total).toBe(2);
  });
});

describe('GET /documents/:id 200', () => {
  it('answers the text as it was filed', async () => {
    const documentId = await file();
    const answer = await viewer.get(`/documents/${documentId}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      documentId,
      title: 'Plan for the week',
      body: '# Plan\n\n1. Ship it 🚢',
    });
  });

  it('answers a withdrawn document, which receipts still name, with the time', async () => {
    const documentId = await file();
    await inWorkspace(test.workspaceId, (documents) => documents.withdraw(documentId, SYSTEM));
    expect((await viewer.get(`/documents/${documentId}`)).body.withdrawnAt).toEqual(expect.any(Number));
  });
});

describe('GET /documents 401', () => {
  it('answers a caller without a valid token', async () => {
    expect((await viewer.get('/documents', { 'x-service-token': 'no' })).status).toBe(401);
    expect((await viewer.get(`/documents/${newId('doc')}`, { 'x-service-token': 'no' })).status).toBe(401);
  });
});

describe('GET /documents/:id 404', () => {
  it.each([
    ['an id that names nothing', () => newId('doc')],
    ['what is no id of a document', () => 'nonsense'],
    ['a NUL in the path', () => '%00'],
    ['a document of another workspace', async () => file({}, (await test.createWorkspace()).workspaceId)],
    [
      'a document of another team',
      async () => file({ teamId: await test.createTeam(test.workspaceId, 'Others') }),
    ],
  ])('answers %s', async (_case, make) => {
    const answer = await viewer.get(`/documents/${await make()}`);
    expect(answer.status).toBe(404);
    expect(answer.body.error.code).toBe('NOT_FOUND');
  });
});

describe('GET /documents 422', () => {
  it.each(['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'page=2'])('answers ?%s', async (query) => {
    const answer = await viewer.get(`/documents?${query}`);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details[0].path).toBe(query.split('=')[0]);
  });
});
