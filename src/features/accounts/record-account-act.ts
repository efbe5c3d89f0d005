import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Actor, SYSTEM, type Via } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { Signals } from '../signals/signals.repository.js';
import { type AccountAct, receiptOf } from './account-act.js';
import { RECORD_ACT } from './account-acts.js';

interface StoredAct extends AccountAct {
  via: Via | null;
  at: number;
}

/** Appends an act on an account to the chain of one workspace; a lock also raises a signal there. */
@Injectable()
export class RecordAccountAct implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
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
      const act = await this.take(item);
      // Its workspace may be gone by now, and its chain with it.
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

  private async take({ workspaceId, id }: WorkItem): Promise<StoredAct | undefined> {
    const [act] = await this.db.query<StoredAct>(
      `delete from account_acts a using members m, users u
       where a.workspace_id = $1 and a.act_id = $2 and m.member_id = a.member_id and u.user_id = m.user_id
       returning a.action, a.member_id, u.display_name as name, a.via, a.details, a.at`,
      [workspaceId, id],
    );
    return act;
  }
}
