import { Injectable } from '@nestjs/common';

/** An approval that a person can decide by now, with the content that it has. */
export interface ReadyApproval {
  workspaceId: string;
  approvalId: string;
}

type Listener = (approval: ReadyApproval) => void;

/**
 * Who is told, in the open transaction, of an approval that became ready or got another content. Approvals do not know who
 * reaches people, so whoever does registers here.
 */
@Injectable()
export class ReadyApprovals {
  readonly #listeners: Listener[] = [];

  register(listener: Listener): void {
    this.#listeners.push(listener);
  }

  publish(approval: ReadyApproval): void {
    for (const listener of this.#listeners) listener(approval);
  }
}
