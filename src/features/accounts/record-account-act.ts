import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Actor, SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { Signals } from '../records/index.js';
import { receiptOf } from './account-act.js';
import { RECORD_ACT } from './account-acts.js';
import { type StoredAct, UnrecordedActs } from './unrecorded-acts.repository.js';

/** Appends an act on an account to the chain of one workspace; a lock also raises a signal there. */
@Injectable()
export class RecordAccountAct implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly unrecorded: UnrecordedActs,
    private readonly receipts: Receipts,
    private readonly signals: Signals,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: RECORD_ACT,
      pool: 2,
      perQueue: 1,
      tries: 10,
      run: (item) => this.execute(item),
      giveUp: () => Promise.reject(new Error('an act on an account must not go unrecorded')),
    });
  }

  private execute(item: WorkItem): Promise<void> {
    return this.db.transaction(scopeOfWork(item), async () => {
      const act = await this.unrecorded.take(item.workspaceId, item.id);
      if (act) this.record(act);
      this.work.complete(item);
    });
  }

  private record(act: StoredAct): void {
    const { memberId, name, via, at } = act;
    const actor: Actor = via === null ? SYSTEM : { type: 'member', id: memberId, name, via };
    const receipt = receiptOf({ ...act, details: { ...act.details, at } }, actor);
    this.receipts.append(receipt);
    if (act.action !== 'account.locked') return;
    this.signals.raise({
      type: 'policy',
      severity: 'warning',
      title: `Ten failed attempts to sign in as ${name}`,
      body: `${receipt.summary} If that was not ${name}, somebody is guessing: have them change their password and set up a second factor.`,
      score: null,
      source: SYSTEM,
      teamId: null,
      capo: null,
      entity: receipt.entity,
    });
  }
}
