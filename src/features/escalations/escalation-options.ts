import { Injectable } from '@nestjs/common';
import { type Caller, type Role, ROLES } from '../../platform/auth/caller.js';
import { type EscalationEntity, DISMISS, type EscalationKind } from './escalation.entity.js';

/** Who decides, and when. */
export interface Decider {
  caller: Caller;
  /** Unix milliseconds. */
  at: number;
  note: string | null;
}

/** What one of the options of an escalation does. */
export interface EscalationOption {
  /** What choosing it does, for who has to choose: one sentence, without its name, as it stands in mails and in the guide. */
  effect: string;
  /** The least role in the team of the escalation: what the act itself needs. */
  role: Role;
  /**
   * Carries the option out in the open transaction, by the use case that does the same elsewhere, so with the same checks.
   * Answers what came of it, as a sentence for a person.
   */
  run(escalation: EscalationEntity, by: Decider): Promise<string>;
}

/** What the feature that an escalation is about knows of it. */
export interface EscalationHandler {
  /**
   * Locks what the escalation is about, in the order of all acts and before the escalation itself: whatever ends its cause
   * meanwhile takes the same locks, and has resolved it then.
   */
  lock?(escalation: EscalationEntity): Promise<unknown>;
  options: Readonly<Record<string, EscalationOption>>;
  /** A person has seen it and leaves everything as it is. */
  dismissed?(escalation: EscalationEntity): void | Promise<void>;
}

/** An option that can be chosen, in words. */
export interface EscalationChoice {
  option: string;
  effect: string;
  role: Role;
}

/** What can be chosen about records of one type, in escalations of one kind. */
export interface RegisteredOptions {
  kind: EscalationKind;
  entityType: string;
  handler: EscalationHandler;
}

export const DISMISSAL: Omit<EscalationChoice, 'option'> = {
  role: 'operator',
  effect: 'Closes this escalation; everything stays as it is.',
};

/**
 * What the options of escalations do. Escalations know that a person has to decide, not about what: the feature that owns
 * the record registers here, for a kind and a type of record, and is called in the transaction of the decision.
 */
@Injectable()
export class EscalationOptions {
  readonly #registered = new Map<string, RegisteredOptions>();

  register(kind: EscalationKind, entityType: string, handler: EscalationHandler): void {
    this.#registered.set(`${kind} ${entityType}`, { kind, entityType, handler });
  }

  all(): RegisteredOptions[] {
    return [...this.#registered.values()];
  }

  of({ kind, entityType }: Pick<EscalationEntity, 'kind' | 'entityType'>): EscalationHandler {
    return this.#registered.get(`${kind} ${entityType}`)?.handler ?? { options: {} };
  }

  /** The options of an escalation in words, in their order; one that nobody here knows any more can not be chosen. */
  choicesOf(escalation: Pick<EscalationEntity, 'kind' | 'entityType' | 'options'>): EscalationChoice[] {
    const { options } = this.of(escalation);
    return escalation.options.flatMap((option) => {
      if (option === DISMISS) return { option, ...DISMISSAL };
      if (!Object.hasOwn(options, option)) return [];
      const { effect, role } = options[option]!;
      return { option, effect, role };
    });
  }

  /** The least role that can do anything about it but dismiss it; that of a dismissal where nothing else is offered. */
  leastRole(escalation: Pick<EscalationEntity, 'kind' | 'entityType' | 'options'>): Role {
    const roles = this.choicesOf(escalation).flatMap(({ option, role }) => (option === DISMISS ? [] : role));
    return ROLES.find((role) => roles.includes(role)) ?? DISMISSAL.role;
  }
}
