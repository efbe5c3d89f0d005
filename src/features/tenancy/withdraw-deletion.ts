import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { INVITE_MAIL } from '../teams/index.js';
import { Deletions } from './deletions.repository.js';
import { SendDeletionMail } from './send-deletion-mail.js';
import { DeletionBegun } from './tenancy.errors.js';

/**
 * Takes the deletion of the caller's workspace back. The kill switch stays engaged: whether anybody has wanted to stop work
 * meanwhile cannot be told, and work goes on when somebody reverts it.
 */
@Injectable()
export class WithdrawDeletion {
  constructor(
    private readonly deletions: Deletions,
    private readonly mail: SendDeletionMail,
    private readonly work: Work,
    private readonly receipts: Receipts,
  ) {}

  /** @throws InvalidTransition when nobody asked for it, DeletionBegun */
  async execute(caller: Caller): Promise<void> {
    const outcome = await this.deletions.withdraw();
    if (outcome === 'none') {
      throw new InvalidTransition({ message: 'Nobody has asked for the deletion of this workspace.' });
    }
    if (outcome === 'begun') throw new DeletionBegun();
    this.receipts.append({
      actor: actorOf(caller),
      action: 'workspace.deletion_withdrawn',
      entity: { type: 'workspace', id: caller.workspaceId },
      summary: `${caller.name} took the deletion of the workspace ${caller.workspaceName} back.`,
    });
    this.work.unparkAll([INVITE_MAIL]);
    await this.mail.enqueue('withdrawn');
  }
}
