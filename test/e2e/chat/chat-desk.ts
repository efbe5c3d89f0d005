import { expect } from 'vitest';
import type { Client } from '../../support/client.js';
import type { TestApp } from '../../support/test-app.js';

/** A member who chats. */
export class ChatDesk {
  conversationId: string | undefined;

  constructor(
    readonly test: TestApp,
    readonly member: Client,
  ) {}

  /** Says something in the conversation, which the first message begins. */
  async say(message: string, also: object = {}) {
    const answer = await this.send(message, also);
    expect(answer.status, answer.text).toBe(200);
    this.conversationId = answer.body.conversationId;
    return answer.body as {
      conversationId: string;
      reply: string;
      intents: { intent: string; ids: string[] }[];
      directiveIds: string[];
    };
  }

  send(message: string, also: object = {}, headers: Record<string, string> = {}) {
    const { conversationId } = this;
    const body = { message, ...(conversationId !== undefined && { conversationId }), ...also };
    return this.member.post('/consigliere/chat', body, headers);
  }

  async messages(conversationId = this.conversationId!) {
    const answer = await this.member.get(`/consigliere/chat/${conversationId}?limit=100`);
    expect(answer.status, answer.text).toBe(200);
    return (answer.body.items as { position: number; author: string; body: string }[]).toReversed();
  }
}

/** Everything that a decision, the mode, an order or a setting could change; a chat changes none of it. */
export async function whatDecides(test: TestApp, workspaceId: string): Promise<string> {
  const sums = [];
  for (const table of [
    'approvals',
    'work_packets',
    'guardians',
    'standing_orders',
    'standing_order_versions',
    'workspaces',
    'members',
    'tokens',
    'escalations',
    'webhook_destinations',
    'signals',
  ]) {
    const beside = table === 'tokens' ? ` - 'last_used_at' - 'last_used_via'` : '';
    const [row] = await test.rows<{ sum: string }>(
      `select md5(coalesce(string_agg((to_jsonb(t)${beside})::text, '|' order by to_jsonb(t)::text), '')) as sum from ${table} t
       where workspace_id = $1`,
      [workspaceId],
    );
    sums.push(`${table} ${row!.sum}`);
  }
  return sums.join('\n');
}
