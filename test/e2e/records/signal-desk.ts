import { type NewSignal, Signals } from '../../../src/features/records/signals.repository.js';
import type { Actor } from '../../../src/platform/auth/caller.js';
import { Db } from '../../../src/platform/database/db.js';
import type { TestApp } from '../../support/test-app.js';

export const CAPO: Actor = { type: 'capo', id: 'capo_revenue', name: 'Capo Revenue', via: 'policy' };

const BUYER_SIGNAL: NewSignal = {
  type: 'buyer',
  severity: 'warning',
  title: 'A buyer went quiet',
  body: 'No answer for **nine** days.',
  score: 0.75,
  source: CAPO,
  teamId: null,
  capo: 'capo_revenue',
  entity: { type: 'buyer', id: 'b-1' },
};

/** Raises signals as the program does, and looks at what is stored. */
export class SignalDesk {
  constructor(private readonly test: TestApp) {}

  within<T>(workspaceId: string, work: (signals: Signals) => T | Promise<T>): Promise<T> {
    const { app } = this.test;
    return app.get(Db).transaction({ workspaceId, teamIds: 'all' }, async () => work(app.get(Signals)));
  }

  raise(signal: Partial<NewSignal> = {}, workspaceId = this.test.workspaceId): Promise<string> {
    return this.within(workspaceId, (signals) => signals.raise({ ...BUYER_SIGNAL, ...signal }));
  }

  async row(signalId: string): Promise<Record<string, unknown>> {
    return (await this.test.rows('select * from signals where signal_id = $1', [signalId]))[0]!;
  }

  async receipts(signalId: string): Promise<Record<string, unknown>[]> {
    const rows = await this.test.rows<{ body: string }>(
      'select body from receipts where entity_id = $1 order by seq',
      [signalId],
    );
    return rows.map(({ body }) => JSON.parse(body));
  }

  async actions(signalId: string): Promise<unknown[]> {
    return (await this.receipts(signalId)).map(({ action }) => action);
  }
}
