import { ValidationFailed } from '../../platform/kernel/errors.js';
import { EscalationAlreadyDecided } from './escalations.errors.js';
import type { EscalationEntity } from './escalation.entity.js';
import type { EscalationChoice } from './escalation-options.js';
import type { EscalationView } from './escalations.dto.js';

/**
 * Whether the decision may be made now. Answers `repeated` for the same decision again, which changes nothing.
 * @throws ValidationFailed for what is no option of this escalation, EscalationAlreadyDecided
 */
export function checkDecision(
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

export function viewOf(escalation: EscalationEntity, choices: EscalationChoice[]): EscalationView {
  const { workspaceId: _workspace, entityType, entityId, ...shown } = escalation;
  return { ...shown, entity: { type: entityType, id: entityId }, choices };
}
