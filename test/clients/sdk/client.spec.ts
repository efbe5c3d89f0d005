import { Consigliere, NotFoundError, UnprocessableError } from '@consigliere/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/test-app.js';

let test: TestApp;
let client: Consigliere;

beforeAll(async () => {
  test = await startTestApp();
  const admin = await test.createMember(test.workspaceId, 'admin');
  client = new Consigliere({ baseUrl: test.url, token: admin.token });
});

afterAll(() => test?.close());

describe('a client', () => {
  it('hands in, reads the draft and approves it', async () => {
    const text = 'Email jane@acme.example, subject "Your order": "It ships on Friday."';
    const { approvalId, directiveId } = await client.directives.create({ directive: text, capo: 'capo_ops' });
    const draft = await client.approvals.waitFor(approvalId!, { for: 'draft' });
    expect(draft.ready).toBe(true);
    const { contentHash } = draft;
    await client.approvals.approve(approvalId!, { ifMatch: contentHash! });
    const done = await client.approvals.waitFor(approvalId!);
    expect(done.status).toBe('approved');
    expect(await client.directives.get(directiveId)).toMatchObject({ directiveId });
  });

  it('reads a list page by page', async () => {
    await client.directives.create({
      directive: 'Write a document "Plan": We begin on Monday.',
      capo: 'ceo',
    });
    const directives = [];
    for await (const directive of client.directives.list({ limit: 1 }))
      directives.push(directive.directiveId);
    const { total } = await client.directives.list();
    expect(directives).toHaveLength(total);
    expect(await client.directives.list({ limit: 1 }).toArray({ limit: 1 })).toHaveLength(1);
  });

  it('throws an error with its code, the faults and the request', async () => {
    const missing = client.directives.get('dir_00000000000000000000000000');
    await expect(missing).rejects.toThrow(NotFoundError);
    const wrong = await client.directives
      .create({ directive: '', capo: 'capo_ops' })
      .catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(UnprocessableError);
    expect(wrong).toMatchObject({
      code: 'VALIDATION_FAILED',
      requestId: expect.stringMatching(/^req_/),
      message: expect.stringContaining('directive'),
    });
    expect(() => client.directives.get('..')).toThrow('directiveId must be an id');
  });
});
