import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Actor, actorOf, type Caller, SYSTEM, type Via } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import { Signals } from '../records/index.js';
import { type AccountAct, receiptOf } from './account-act.js';
import { Accounts, type StoredAct, ACCOUNTS } from './accounts.repository.js';

const RECORD_ACT = 'account.record';
export const ACCOUNT_MAIL = 'account.mail';

/** An act, before it is known in which workspaces the account is. */
type NewAct = Pick<AccountAct, 'action'> & {
  details?: Record<string, unknown>;
  /** The surface through which the owner of the account acted; left out, the program did. */
  via?: Via;
  /** Whether the owner is told by mail. */
  mail?: boolean;
};

/**
 * Records what happens to an account, in the open transaction. An account is a member of several workspaces, and each of
 * them relies on how its members sign in, so each has the receipt in its own chain. A transaction appends to one chain
 * alone: the others have theirs by work that is enqueued with the act, so that none is without it for longer than a moment.
 */
@Injectable()
export class AccountActs implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly accounts: Accounts,
    private readonly work: Work,
    private readonly receipts: Receipts,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: RECORD_ACT,
      pool: 2,
      perQueue: 1,
      tries: 10,
      run: (item) => this.recordIn(item),
      giveUp: () => Promise.reject(new Error('an act on an account must not go unrecorded')),
    });
  }

  /** What a member did to their own account; the transaction is one of their workspace. */
  async recordOf(caller: Caller, act: Omit<NewAct, 'via'>): Promise<void> {
    const { memberId, name, userId, workspaceId, via } = caller;
    this.receipts.append(receiptOf({ ...act, memberId, name, details: act.details ?? {} }, actorOf(caller)));
    await this.enqueue(userId, { ...act, via }, workspaceId);
  }

  /** What happened to an account while nobody was signed in to it. */
  async record(userId: string, act: NewAct): Promise<void> {
    await this.enqueue(userId, act, null);
  }

  private async enqueue(
    userId: string,
    { action, via, details = {}, mail = false }: NewAct,
    recordedIn: string | null,
  ): Promise<void> {
    const workspaceIds = await this.accounts.addAct({
      userId,
      action,
      via: via ?? null,
      details,
      at: this.clock.now(),
      recordedIn,
      mailId: mail ? newId('msg') : null,
    });
    this.work.notify(RECORD_ACT, workspaceIds);
    if (mail) this.work.notify(ACCOUNT_MAIL, [ACCOUNTS]);
  }

  /** Appends an act to the chain of one workspace; a lock also raises a signal there. */
  private recordIn(item: WorkItem): Promise<void> {
    return this.db.transaction(scopeOfWork(item), async () => {
      const act = await this.accounts.takeAct(item.workspaceId, item.id);
      if (act) this.append(act);
      this.work.complete(item);
    });
  }

  private append(act: StoredAct): void {
    const { memberId, name, via, at } = act;
    const actor: Actor = via === null ? SYSTEM : { type: 'member', id: memberId, name, via };
    const receipt = receiptOf({ ...act, details: { ...act.details, at } }, actor);
    this.receipts.append(receipt);
    if (act.action !== 'account.locked') return;
    this.signals.raise({
      type: 'policy',
      severity: 'warning',
      title: `Too many failed attempts to sign in as ${name}`,
      body: `${receipt.summary} If that was not ${name}, somebody is guessing: have them change their password and set up a second factor.`,
      teamId: null,
      entity: receipt.entity,
    });
  }
}
