import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import type { DirectiveStatus } from '../terms/terms.js';
import type { ApprovalEntity, ApprovalKind } from './approval.entity.js';

/**
 * What an approval is about. Approvals know that something waits, not what it is: the feature that asked registers
 * here and is called in the transaction of the decision.
 */
export interface ApprovalSubject {
  /** Lets go what was approved; answers the directive's status from now on. */
  approved(approval: ApprovalEntity, by: Actor): Promise<DirectiveStatus>;
  rejected(approval: ApprovalEntity, by: Actor, feedback: string): Promise<DirectiveStatus>;
  /** @throws DomainError when another draft makes no sense any more; called before anything is written */
  assertRevisable(approval: ApprovalEntity): Promise<void>;
  changesRequested(approval: ApprovalEntity, by: Actor, feedback: string): Promise<DirectiveStatus>;
  expired(approval: ApprovalEntity): Promise<void>;
  status(approval: ApprovalEntity): Promise<DirectiveStatus>;
}

@Injectable()
export class ApprovalSubjects {
  readonly #subjects = new Map<ApprovalKind, ApprovalSubject>();

  register(kind: ApprovalKind, subject: ApprovalSubject): void {
    this.#subjects.set(kind, subject);
  }

  of({ kind }: ApprovalEntity): ApprovalSubject {
    const subject = this.#subjects.get(kind);
    if (!subject) throw new Error(`nothing registered for approvals of the kind ${kind}`);
    return subject;
  }
}
