import { expect } from 'vitest';
import { Client } from '../../support/client.js';
import { eventually, type TestApp } from '../../support/test-app.js';

export const MAIL = 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.';
export const DOCUMENT = 'File this memo for the board: The delivery delays end on Friday.';

/** A member at work, who calls from another address each time so that no route's limit is met. */
export class Desk {
  constructor(
    readonly test: TestApp,
    readonly token: string | undefined = test.owner.token,
  ) {}

  get client(): Client {
    return new Client(this.test.url, this.token);
  }

  async handIn(body: object = { text: MAIL }): Promise<{ directiveId: string; approvalId: string }> {
    const answer = await this.client.post('/directive', body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  }

  async directive(directiveId: string) {
    return (await this.client.get(`/directives/${directiveId}`)).body;
  }

  async approval(approvalId: string) {
    return (await this.client.get(`/approvals/${approvalId}`)).body;
  }

  /** The approval once its draft is attached. */
  async ready(approvalId: string) {
    const approval = (await this.client.get(`/approvals/${approvalId}?wait=30`)).body;
    expect(approval).toMatchObject({ ready: true, status: 'pending' });
    return approval;
  }

  async handInReady(body?: object) {
    const { directiveId, approvalId } = await this.handIn(body);
    return { directiveId, approvalId, approval: await this.ready(approvalId) };
  }

  approve(approvalId: string, headers: Record<string, string> = {}) {
    return this.client.post(`/approvals/${approvalId}/approve`, undefined, headers);
  }

  reject(approvalId: string, body: object = { feedback: 'Not now.' }) {
    return this.client.post(`/approvals/${approvalId}/reject`, body);
  }

  /** Edits what was read, or what `contentHash` names. */
  edit(approvalId: string, body: object, contentHash: string, headers: Record<string, string> = {}) {
    return this.client.send('PATCH', `/approvals/${approvalId}`, body, {
      'If-Match': `"${contentHash}"`,
      ...headers,
    });
  }

  until(directiveId: string, status: string, seconds = 10) {
    return eventually(
      () => this.directive(directiveId),
      (directive) => directive.status === status,
      seconds,
    );
  }

  async packets(directiveId: string) {
    const { items } = (await this.client.get(`/work-packets?directiveId=${directiveId}&limit=100`)).body;
    const records = (items as { workPacketId: string }[]).map(async ({ workPacketId }) => {
      return (await this.client.get(`/work-packets/${workPacketId}`)).body;
    });
    return Promise.all(records);
  }

  kill(reason?: string) {
    return this.client.post('/guardian/kill-switch', reason === undefined ? undefined : { reason });
  }

  async revert(): Promise<void> {
    const answer = await this.client.post('/guardian/revert', {});
    expect(answer.status, answer.text).toBe(200);
  }

  async mode(mode: string): Promise<void> {
    expect((await this.client.put('/guardian/mode', { mode })).status).toBe(200);
  }

  /** The names of the receipts about a directive, in their order. */
  async actions(directiveId: string): Promise<string[]> {
    const rows = await this.test.rows<{ action: string }>(
      'select action from receipts where directive_id = $1 order by seq',
      [directiveId],
    );
    return rows.map(({ action }) => action);
  }
}

/** Each change begins where the one before it ended. */
export function expectUnbroken(directive: {
  status: string;
  history: { from: string | null; to: string }[];
}): void {
  const { history, status } = directive;
  expect(history.map(({ from }) => from)).toEqual([null, ...history.slice(0, -1).map(({ to }) => to)]);
  expect(history.at(-1)!.to).toBe(status);
}
