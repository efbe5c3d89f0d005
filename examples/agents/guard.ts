/**
 * Guards one call of a tool with nothing but HTTP: asks Consigliere, waits while a person decides, and has the tool's server do what
 * was decided. The id is the agent's own name for the call: run again with the same one, it does not act again.
 *
 *   npx node examples/agents/guard.ts <id> <tool> '<parameters as JSON>' '<reason>'
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const { CONSIGLIERE_URL = 'http://127.0.0.1:3000', CONSIGLIERE_TOKEN = '' } = process.env;
const { TOOL_URL = 'http://127.0.0.1:4000' } = process.env;

interface ActionRequest {
  actionRequestId: string;
  status: string;
  paramsHash: string;
  decision: { params: object; feedback: string | null };
  consumedAt: number;
  actBy: number;
  permit: string;
  error: { code: string; message: string };
}

/** Sends again what may be lost: each of these calls has its effect once. */
async function consigliere(method: string, path: string, body?: object): Promise<ActionRequest> {
  for (let left = 4; ; left--) {
    const response = await fetch(`${CONSIGLIERE_URL}/api/pro/action-requests${path}`, {
      method,
      headers: { 'x-service-token': CONSIGLIERE_TOKEN, 'Content-Type': 'application/json' },
      signal: AbortSignal.timeout(40_000),
      ...(body && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => (left > 0 ? undefined : Promise.reject(error)));
    const isFinal = left === 0 || (response && response.status < 500 && response.status !== 429);
    const answer = (await response?.json().catch(() => undefined)) as ActionRequest | undefined;
    if (isFinal && response?.ok && answer) return answer;
    if (isFinal && answer) throw new Error(`${answer.error.code}: ${answer.error.message}`);
    if (left === 0) throw new Error('Consigliere gives no answer that can be read.');
    await sleep(1_000);
  }
}

export async function guard(
  externalId: string,
  tool: string,
  params: object,
  reason: string,
): Promise<string> {
  const attempt = randomBytes(16).toString('hex');
  let request = await consigliere('POST', '', { externalId, tool, params, reason });
  const path = `/${request.actionRequestId}`;
  while (request.status === 'pending') request = await consigliere('GET', `${path}?wait=30`);
  // Rejected, say. Consumed by another attempt: nobody knows what came of it, so it is not done again.
  if (request.status !== 'allowed' && request.status !== 'approved') return request.status;

  const before = performance.now();
  const { paramsHash } = request;
  request = await consigliere('POST', `${path}/consume`, { attempt, paramsHash });
  const { actBy, consumedAt, decision, permit } = request;
  if (performance.now() - before > actBy - consumedAt) throw new Error('It is too late to begin.');
  const response = await fetch(`${TOOL_URL}/${tool}`, {
    method: 'POST',
    headers: { Authorization: `Permit ${permit}`, 'Content-Type': 'application/json' },
    signal: AbortSignal.timeout(60_000),
    body: JSON.stringify(decision.params),
  });
  // What may have been done has no result: it stays unconfirmed until a person has looked.
  if (response.status >= 500) throw new Error(`The tool answered ${response.status}.`);
  const output = shortened(await response.json());
  const [outcome, summary] = response.ok ? ['succeeded', 'Done.'] : ['failed', 'The tool refused it.'];
  return (await consigliere('POST', `${path}/result`, { outcome, summary, output })).status;
}

/** A result takes an object of at most 8 KB: of anything else its beginning is told. */
function shortened(answer: unknown): unknown {
  const text = JSON.stringify(answer);
  const fits = text.startsWith('{') && Buffer.byteLength(text) <= 8_192;
  return fits ? answer : { beginning: text.slice(0, 2_000).toWellFormed() };
}

if (import.meta.main) {
  const [id = '', tool = '', params = '{}', reason = ''] = process.argv.slice(2);
  const status = await guard(id, tool, JSON.parse(params), reason);
  console.log(status);
  process.exitCode = status === 'completed' ? 0 : 1;
}
