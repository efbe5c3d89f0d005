import { Body, Controller, Post } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { AcknowledgeSignal } from './acknowledge-signal.js';
import { AcknowledgeBody, SignalView } from './signals.dto.js';

@Controller('api/pro')
export class SignalsController {
  constructor(private readonly acknowledgeSignal: AcknowledgeSignal) {}

  /** Acknowledges a signal, or snoozes it. */
  @Post('ack')
  @Route({
    auth: 'token',
    role: 'operator',
    teamRole: true,
    limit: specified('/api/pro/ack'),
    returns: { 200: SignalView },
    errors: [NotFound, InvalidTransition],
  })
  acknowledge(@CurrentCaller() caller: Caller, @Body() body: AcknowledgeBody): Promise<SignalView> {
    return this.acknowledgeSignal.execute(caller, body);
  }
}
