import { Injectable } from '@nestjs/common';
import type { WaitingApproval } from './current-approvals.repository.js';

/** Plans the mails about an approval that becomes ready, in the open transaction. */
export type TellOfApproval = (approval: WaitingApproval, at: number) => void;

/** Looks up whom; undefined: they are told by work of its own. */
type LookUp = (workspaceId: string, teamId: string | null) => Promise<TellOfApproval | undefined>;

/** Who is told of approvals that become ready. They belong to a higher feature, which registers. */
@Injectable()
export class ReadyApprovals {
  #lookUp: LookUp | undefined;

  register(lookUp: LookUp): void {
    this.#lookUp = lookUp;
  }

  /** In the open transaction, and with what else is asked for there at the same time. */
  async lookUp(workspaceId: string, teamId: string | null): Promise<TellOfApproval | undefined> {
    return this.#lookUp?.(workspaceId, teamId);
  }
}
