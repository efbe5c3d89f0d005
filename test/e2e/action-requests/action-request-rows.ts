import { newId } from '../../../src/platform/kernel/ids.js';
import type { Client } from '../../support/client.js';

/** An action request that waits for a person: nobody has registered its tool. */
export async function leaveActionRequest(
  member: Client,
  body: object = {},
): Promise<{ actionRequestId: string; approvalId: string; paramsHash: string }> {
  const asked = { tool: newId('req').replace('req', 'tool'), params: { order: 'A-17' }, ...body };
  const answer = await member.post('/action-requests', asked);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
}
