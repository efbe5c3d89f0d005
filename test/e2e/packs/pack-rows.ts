import { newId } from '../../../src/platform/kernel/ids.js';
import { manifestOf, REMINDER } from '../../support/skill-packs.js';
import type { TestApp } from '../../support/test-app.js';

/** An installed pack with a skill and an order that was refused, as rows; no publisher has signed it. */
export async function leavePack(
  { rows }: Pick<TestApp, 'rows'>,
  workspaceId: string,
  packId = newId('pck'),
): Promise<string> {
  const name = packId.replace('_', '-');
  const skill = { ...REMINDER, name };
  await rows(
    `insert into skill_packs (workspace_id, pack_id, publisher, name, name_key, version, manifest, manifest_hash, signature,
       status, installed_by, installed_at, completed_at)
     values ($1, $2, 'acme', $3, $3, '1.0.0', $4, 'x', 'x', 'installed',
       '{"type": "member", "id": "mem", "name": "Mira", "via": "api"}', now(), now())`,
    [workspaceId, packId, name, JSON.stringify(manifestOf({ name, skills: [skill] }))],
  );
  await rows(
    `insert into skill_pack_skills (workspace_id, pack_id, name, position, capo, status, definition, version)
     values ($1, $2, $3, 1, 'capo_revenue', 'arrived', $4, '1.0.0')`,
    [workspaceId, packId, name, JSON.stringify(skill)],
  );
  await rows(
    `insert into skill_pack_orders (workspace_id, pack_id, order_key, position, status, reason)
     values ($1, $2, 'mail-asks', 1, 'refused', 'It has expired.')`,
    [workspaceId, packId],
  );
  return packId;
}
