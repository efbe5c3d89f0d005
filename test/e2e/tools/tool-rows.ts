import { newId } from '../../../src/platform/kernel/ids.js';
import type { Client } from '../../support/client.js';

/** An active tool, registered by this owner or admin; its name looks like an id. */
export async function leaveTool(admin: Client): Promise<{ name: string; fingerprint: string }> {
  const name = newId('req').replace('req', 'tool');
  const answer = await admin.post('/tools', { name, paramsSchema: { type: 'object', properties: {} } });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
}
