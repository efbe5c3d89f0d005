import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { defineError } from '../../platform/kernel/define-error.js';
import { STATUS, text } from '../../platform/kernel/error-details.js';
import { ValidationFailed, InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { type EscalationEntity, DISMISS } from './escalation.entity.js';
import {
  type EscalationChoice,
  DISMISSAL,
  type EscalationHandler,
  type EscalationOption,
  EscalationOptions,
} from './escalation-options.js';
import type {
  EscalationView,
  DecideEscalationBody,
  EscalationPage,
  EscalationsQuery,
} from './escalations.dto.js';
import { Escalations } from './escalations.repository.js';

export const EscalationAlreadyDecided = defineError(
  'ESCALATION_ALREADY_DECIDED',
  409,
  'This escalation has already been decided differently, or its cause is gone. The details say how it ended.',
  { details: STATUS.extend({ decision: text('The decision that was made.', 'dismiss').nullable() }) },
);

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
