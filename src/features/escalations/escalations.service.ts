import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, type Role, ROLES, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { defineError } from '../../platform/kernel/define-error.js';
import { STATUS, text } from '../../platform/kernel/error-details.js';
import { InvalidTransition, NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { DISMISS, type EscalationEntity, type EscalationKind } from './escalation.entity.js';
import type {
  DecideEscalationBody,
  EscalationPage,
  EscalationsQuery,
  EscalationView,
} from './escalations.dto.js';
import { Escalations } from './escalations.repository.js';

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
interface EscalationHandler {
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
interface RegisteredOptions {
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

export const EscalationAlreadyDecided = defineError(
  'ESCALATION_ALREADY_DECIDED',
  409,
  'This escalation has already been decided differently, or its cause is gone. The details say how it ended.',
  { details: STATUS.extend({ decision: text('The decision that was made.', 'dismiss').nullable() }) },
);

/** Escalations as those who decide them see them. */
@Injectable()
export class EscalationsService {
  constructor(
    private readonly escalations: Escalations,
    private readonly options: EscalationOptions,
    private readonly clock: Clock,
  ) {}

  /** What a person has to decide, the most urgent first; of another status, newest first. */
  async list(caller: Caller, query: EscalationsQuery): Promise<EscalationPage> {
    const page = await this.escalations.list(scopeOf(caller), query);
    return { ...page, items: page.items.map((one) => this.viewOf(one)) };
  }

  /** @throws NotFound */
  async get(caller: Caller, escalationId: string): Promise<EscalationView> {
    return this.viewOf(await this.find(caller, escalationId));
  }

  /**
   * A person decides an escalation: what the option does and the decision are one transaction.
   * The same decision again answers the same.
   * @throws NotFound, Forbidden, ValidationFailed, EscalationAlreadyDecided; whatever the act of the option throws
   */
  async decide(caller: Caller, body: DecideEscalationBody): Promise<EscalationView> {
    const { escalationId, decision, note = null } = body;
    const found = await this.find(caller, escalationId);
    const handler = this.options.of(found);
    requireRole(caller, found.teamId, handler.options[decision]?.role ?? DISMISSAL.role, undefined, 'decide');
    if (checkDecision(found, decision) === 'repeated') return this.viewOf(found);
    const option = optionOf(handler, decision, caller);

    await handler.lock?.(found);
    const escalation = (await this.escalations.lock(caller.workspaceId, escalationId))!;
    if (checkDecision(escalation, decision) === 'repeated') return this.viewOf(escalation);
    const at = this.clock.now();
    // Closed before the option is carried out: what ends the cause of an escalation resolves those that are open.
    const status = decision === DISMISS ? 'dismissed' : 'resolved';
    const made = this.escalations.decide(escalation, { status, decision, by: actorOf(caller), at, note });
    const outcome = await option.run(escalation, { caller, at, note });
    const decided = { ...escalation, ...made, outcome };
    this.escalations.noteDecided(decided, outcome);
    return this.viewOf(decided);
  }

  /** @throws NotFound */
  private async find(caller: Caller, escalationId: string): Promise<EscalationEntity> {
    const escalation = isId('esc', escalationId)
      ? await this.escalations.find(scopeOf(caller), escalationId)
      : undefined;
    if (!escalation) throw new NotFound();
    return escalation;
  }

  private viewOf(escalation: EscalationEntity): EscalationView {
    return viewOf(escalation, this.options.choicesOf(escalation));
  }
}

/**
 * Whether the decision may be made now. Answers `repeated` for the same decision again, which changes nothing.
 * @throws ValidationFailed for what is no option of this escalation, EscalationAlreadyDecided
 */
function checkDecision(
  escalation: Pick<EscalationEntity, 'status' | 'decision' | 'options'>,
  wanted: string,
): 'decide' | 'repeated' {
  const { status, decision, options } = escalation;
  if (!options.includes(wanted)) {
    const message = `decision must be one of the options of this escalation: ${options.join(', ')}`;
    throw new ValidationFailed({ details: [{ path: 'decision', rule: 'isIn', message }] });
  }
  if (status === 'open') return 'decide';
  if (decision === wanted) return 'repeated';
  throw new EscalationAlreadyDecided({ details: { status, decision } });
}

function viewOf(escalation: EscalationEntity, choices: EscalationChoice[]): EscalationView {
  const { workspaceId: _workspace, entityType, entityId, ...shown } = escalation;
  return { ...shown, entity: { type: entityType, id: entityId }, choices };
}

function optionOf(handler: EscalationHandler, decision: string, caller: Caller): EscalationOption {
  const option = decision === DISMISS ? dismissal(handler, caller) : handler.options[decision];
  if (option) return option;
  throw new InvalidTransition({
    message: 'The subject of this escalation can no longer be decided here; dismiss it.',
  });
}

function dismissal(handler: EscalationHandler, { name }: Caller): EscalationOption {
  return {
    ...DISMISSAL,
    run: async (escalation: EscalationEntity) => {
      await handler.dismissed?.(escalation);
      return `${name} dismissed the escalation: ${escalation.reason}`;
    },
  };
}
