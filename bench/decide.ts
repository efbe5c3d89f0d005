import type { INestApplicationContext } from '@nestjs/common';
import { Guardians } from '../src/features/guardian/guardians.repository.js';
import { PolicyGate } from '../src/features/guardian/policy-gate.js';
import { Db } from '../src/platform/database/db.js';
import { newId } from '../src/platform/kernel/ids.js';

/** Decides one work packet, in a transaction of its own, as the acceptance of a draft does. */
export function decide(app: INestApplicationContext, workspaceId: string): Promise<void> {
  return app.get(Db).transaction({ workspaceId, teamIds: 'all' }, async () => {
    const guardian = await app.get(Guardians).lockShared(workspaceId);
    const packet = {
      workPacketId: newId('pkt'),
      capo: 'capo_ops',
      engine: 'ops',
      teamId: null,
      priority: 'medium',
      actionType: 'document.file',
      reversibility: 'reversible',
      target: null,
      params: { title: 'Note', body: 'Note' },
      recipients: 0,
      amount: null,
      currency: null,
    } as const;
    await app.get(PolicyGate).decide([packet], { guardian });
  });
}
