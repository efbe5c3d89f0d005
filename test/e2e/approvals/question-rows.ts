import type { Client } from '../../support/client.js';

export const PLAN = {
  type: 'object',
  properties: { plan: { type: 'string', enum: ['basic', 'pro'] } },
  required: ['plan'],
};

/** A question that waits for an answer. */
export async function leaveQuestion(
  member: Client,
  body: object = {},
): Promise<{ questionId: string; approvalId: string }> {
  const answer = await member.post('/questions', { title: 'Which plan?', answerSchema: PLAN, ...body });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
}
