import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { acknowledge, isSnoozeTime, viewOf } from './signal.js';
import type { AcknowledgeBody, SignalView } from './signals.dto.js';
import { Signals } from './signals.repository.js';

/** A person has seen a signal, or wants to see it later (CONTRACT, Signal). Asking again answers the same. */
@Injectable()
export class AcknowledgeSignal {
  constructor(
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {}

  /** @throws ValidationFailed, NotFound, or InvalidTransition when an acknowledged signal is to be snoozed */
  async execute(caller: Caller, body: AcknowledgeBody): Promise<SignalView> {
    const { signalId, note = null, snoozeUntil = null } = body;
    const at = this.clock.now();
    if (snoozeUntil !== null && !isSnoozeTime(snoozeUntil, at)) throw notASnoozeTime();
    const signal = isId('sig', signalId) ? await this.signals.lock(signalId) : undefined;
    if (!signal) throw new NotFound();
    requireRole(caller, signal.teamId, 'operator');
    const by = actorOf(caller);
    const changed = acknowledge(signal, { by, at, note, snoozeUntil });
    if (!changed) return viewOf(signal);
    this.signals.acknowledge(changed, by);
    return viewOf(changed);
  }
}

function notASnoozeTime() {
  const message = 'snoozeUntil must be a time in the future, at most one year ahead';
  return new ValidationFailed({ details: [{ path: 'snoozeUntil', rule: 'isSnoozeTime', message }] });
}
