import { Injectable } from '@nestjs/common';
import type { Actor, Caller } from '../../platform/auth/caller.js';
import type { GuardianEntity } from '../guardian/index.js';
import type { DirectiveStatus } from '../terms/index.js';
import type { RevisionChange } from './approval-content.dto.js';
import type { ApprovalEntity, ApprovalKind, UnrevisedApproval } from './approval.entity.js';

import type { EditedContent } from './approvals.repository.js';

/** What a person wants to be sent instead. */
export interface Edit {
  /** Complete parameters, which replace those of the work packet, if any, and what of them is right though it was asked for. */
  packets: readonly { workPacketId: string; params?: Record<string, unknown>; confirm?: readonly string[] }[];
  add: readonly { action: { type: string; params: Record<string, unknown>; title?: string } }[];
  remove: readonly string[];
  output: { body: string } | null;
  /** Of what an agent from outside asks for. */
  params: Record<string, unknown> | null;
}

/** Who edits, and what holds at that moment. */
export interface EditSituation {
  by: Actor;
  /** Every member who may be the one that edits. */
  people: readonly string[];
  at: number;
  guardian: GuardianEntity;
}

/** What an edit made of it. */
export interface Edited {
  changes: RevisionChange[];
  content: EditedContent;
  /** What the receipt of the edit says besides. */
  details: Record<string, unknown>;
}

export interface ChangesRequested {
  feedback: string;
  /** The members who asked for them: under "four eyes" none of them can be the second pair for the next draft. */
  people: readonly string[];
  /** The approval to open for the next draft. */
  nextApprovalId: string;
}

/**
 * What an approval is about. Approvals know that something waits, not what it is: the feature that asked registers
 * here and is called in the transaction of the decision.
 */
export interface ApprovalSubject {
  /**
   * Lets go what was approved; answers the directive's status from now on, if there is one.
   * @param people the members whose eyes saw it, see `peopleBehind`
   */
  approved(
    approval: UnrevisedApproval,
    by: Actor,
    people: readonly string[],
  ): Promise<DirectiveStatus | null>;
  /**
   * Writes what a person wants to be sent instead; undefined when it was like that already.
   * @throws ValidationFailed with every fault, PolicyDenied, InvalidTransition; before anything is written
   */
  edit(approval: ApprovalEntity, edit: Edit, situation: EditSituation): Promise<Edited | undefined>;
  rejected(approval: UnrevisedApproval, by: Actor, feedback: string): Promise<DirectiveStatus | null>;
  /** @throws DomainError when another draft makes no sense any more; called before anything is written */
  assertRevisable(approval: UnrevisedApproval): Promise<void>;
  changesRequested(
    approval: UnrevisedApproval,
    by: Actor,
    changes: ChangesRequested,
  ): Promise<DirectiveStatus | null>;
  expired(approval: UnrevisedApproval): Promise<void>;
  /** {@link expired} has failed too often, so the approval was ended alone: has its subject end later, by itself. */
  endLater?(approval: UnrevisedApproval): Promise<void>;
  /** How what has expired is asked for again; left out where it cannot be. */
  again?: {
    isPossible(approval: UnrevisedApproval): Promise<boolean>;
    /** Answers what came of it, as a sentence. @throws DomainError when it makes no sense any more */
    handIn(approval: UnrevisedApproval, caller: Caller): Promise<string>;
  };
  status(approval: UnrevisedApproval): Promise<DirectiveStatus | null>;
}

@Injectable()
export class ApprovalSubjects {
  readonly #subjects = new Map<ApprovalKind, ApprovalSubject>();

  register(kind: ApprovalKind, subject: ApprovalSubject): void {
    this.#subjects.set(kind, subject);
  }

  of({ kind }: Pick<ApprovalEntity, 'kind'>): ApprovalSubject {
    const subject = this.#subjects.get(kind);
    if (!subject) throw new Error(`nothing registered for approvals of the kind ${kind}`);
    return subject;
  }
}
