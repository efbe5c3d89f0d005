import type { Client as McpClient } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectMcp, type McpConnection, REVISIONS } from '../../support/mcp-connection.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';

let test: TestApp;
let admin: TestMember;
const open: McpClient[] = [];

beforeAll(async () => {
  test = await startTestApp();
  admin = await test.createMember(test.workspaceId, 'admin');
});

afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await test?.close();
});

async function connect(given: Partial<McpConnection> = {}): Promise<McpClient> {
  const client = await connectMcp({
    url: test.url,
    token: admin.token,
    over: 'http',
    revision: '2026-07-28',
    ...given,
  });
  open.push(client);
  return client;
}

interface Called {
  isError?: boolean;
  structuredContent?: any;
  content: { type: string; text: string }[];
}

async function call(client: McpClient, name: string, args: Record<string, unknown> = {}): Promise<Called> {
  return (await client.callTool({ name, arguments: args })) as Called;
}

/** Who did it, as the receipts say. */
async function actorsOf(entityId: string): Promise<Record<string, unknown>[]> {
  const { body } = await admin.get(`/audit-feed?entity=${entityId}`);
  return body.items;
}

const EMAIL = 'Email jane@acme.example, subject "Your order": "It ships on Friday."';

describe.each(
  REVISIONS.flatMap((revision) => (['http', 'stdio'] as const).map((over) => ({ over, revision }))),
)('a client over $over in the revision $revision', ({ over, revision }) => {
  // What runs on the machine of the token's holder is no surface of the service.
  const via = over === 'http' ? 'mcp' : 'api';
  let client: McpClient;
  beforeAll(async () => {
    client = await connect({ over, revision });
  });

  it('speaks that revision, and is told what is untrusted', () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getServerVersion()).toMatchObject({ name: 'consigliere' });
    expect(client.getInstructions()).toContain('<untrusted>');
  });

  it('hands in, reads the draft and approves what it read', async () => {
    const { structuredContent: handedIn } = await call(client, 'service/directive', {
      text: EMAIL,
      capo: 'capo_ops',
    });
    expect(handedIn).toMatchObject({ status: 'pending_approval' });
    const { approvalId, directiveId } = handedIn;
    const read = await call(client, 'service/approvals/get', { approvalId, wait: 30 });
    expect(read.structuredContent).toMatchObject({ ready: true, status: 'pending' });
    expect(read.content[0]!.text).toMatch(/^<untrusted note=.*>\n\{.*\n<\/untrusted>$/s);
    const { contentHash } = read.structuredContent;

    const unconfirmed = await call(client, 'service/approvals/approve', { approvalId });
    expect(unconfirmed).toMatchObject({ isError: true });
    expect(unconfirmed.content[0]!.text).toContain('service/approvals/get');
    expect(unconfirmed.content[0]!.text).not.toContain(contentHash);
    const other = await call(client, 'service/approvals/approve', { approvalId, confirm: 'a'.repeat(64) });
    expect(other.isError).toBe(true);
    expect(other.content[0]!.text).toContain('read it again');
    expect((await admin.get(`/approvals/${approvalId}`)).body.status).toBe('pending');

    const approved = await call(client, 'service/approvals/approve', { approvalId, confirm: contentHash });
    expect(approved.structuredContent).toMatchObject({ approvalId, status: 'approved' });
    await eventually(
      () => call(client, 'service/directives/get', { directiveId }),
      ({ structuredContent }) => structuredContent.status === 'executed',
    );
    expect((await admin.get(`/approvals/${approvalId}`)).body).toMatchObject({
      decidedVia: via,
      decidedBy: { id: admin.memberId, via },
    });
    expect(await actorsOf(directiveId)).toContainEqual(
      expect.objectContaining({
        action: 'directive.created',
        actor: expect.objectContaining({ via }),
      }),
    );
  });

  it('edits and rejects, and leaves a changed draft alone', async () => {
    const { structuredContent: handedIn } = await call(client, 'service/directive', {
      text: EMAIL,
      capo: 'capo_ops',
    });
    const { approvalId } = handedIn;
    const { structuredContent: draft } = await call(client, 'service/approvals/get', {
      approvalId,
      wait: 30,
    });
    const [{ workPacketId, action }] = draft.packets;
    const edit = {
      approvalId,
      contentHash: draft.contentHash,
      packets: [{ workPacketId, params: { ...action.params, subject: 'Friday' } }],
    };
    const edited = await call(client, 'service/approvals/edit', edit);
    expect(edited.structuredContent.packets[0].action.params.subject).toBe('Friday');
    const stale = await call(client, 'service/approvals/approve', { approvalId, confirm: draft.contentHash });
    expect(stale).toMatchObject({ isError: true });
    const rejected = await call(client, 'service/approvals/reject', {
      approvalId,
      feedback: 'Not on Friday.',
    });
    expect(rejected.structuredContent).toMatchObject({ status: 'rejected' });
    const late = await call(client, 'service/approvals/approve', { approvalId, confirm: 'x' });
    expect(late.content[0]!.text).toContain('service/approvals/get shows the decision');
  });

  it('reads everything else as its schemas say', async () => {
    for (const [name, args] of [
      ['service/get-context', {}],
      ['service/directives/list', { limit: 1 }],
      ['service/approvals/list', { status: 'approved', limit: 1 }],
      ['service/standing-orders/list', { status: 'all' }],
      ['service/guardian/status', {}],
      ['service/guardian/preflight', { directive: EMAIL, capo: 'capo_ops' }],
      ['service/report', {}],
      ['service/feed', { limit: 2 }],
    ] as const) {
      const { isError, structuredContent, content } = await call(client, name, args);
      expect({ name, isError, text: isError ? content[0]!.text : '' }).toEqual({ name, text: '' });
      expect(structuredContent).toBeTypeOf('object');
    }
  });

  it('offers resources and prompts', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['consigliere://context']);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toHaveLength(2);
    const { body } = await admin.get('/approvals?status=rejected&limit=1');
    const { approvalId } = body.items[0];
    const today = new Date(test.clock.now()).toISOString().slice(0, 10);
    for (const uri of [
      'consigliere://context',
      `consigliere://approvals/${approvalId}`,
      `consigliere://reports/${today}`,
    ]) {
      const { contents } = await client.readResource({ uri });
      expect(contents[0]).toMatchObject({
        uri,
        mimeType: 'text/plain',
        text: expect.stringMatching(/^<untrusted /),
      });
    }
    for (const uri of [
      'consigliere://reports/2026-02-31',
      'consigliere://approvals/apr_x',
      'file:///etc/passwd',
    ])
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['morning-brief', 'review-approvals']);
    const { messages } = await client.getPrompt({ name: 'review-approvals' });
    expect(messages[0]!.content).toMatchObject({ text: expect.stringContaining('service/approvals/get') });
    await expect(client.getPrompt({ name: 'toString' })).rejects.toMatchObject({ code: -32602 });
  });
});
