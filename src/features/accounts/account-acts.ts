import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, type Via } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { type AccountAct, receiptOf } from './account-act.js';
import { ACCOUNTS } from './no-workspace.js';
import { UnrecordedActs } from './unrecorded-acts.repository.js';

export const RECORD_ACT = 'account.record';
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
export class AccountActs {
  constructor(
    private readonly unrecorded: UnrecordedActs,
    private readonly work: Work,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

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
    const workspaceIds = await this.unrecorded.add({
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
}
