import { Injectable, type OnModuleInit } from '@nestjs/common';
import { actorOf } from '../../platform/auth/caller.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import {
  ACTION_UNCONFIRMED,
  ARRIVED,
  DID_NOT_ARRIVE,
  type Decider,
  type EscalationEntity,
  type EscalationOption,
  EscalationOptions,
} from '../escalations/index.js';
import { ActionOutcomes } from './action-outcomes.js';
import { ActionRequests } from './action-requests.repository.js';

/** A person says what came of an action whose agent has not: it is recorded as theirs until the agent reports. */
@Injectable()
export class ActionFindings implements OnModuleInit {
  constructor(
    private readonly options: EscalationOptions,
    private readonly requests: ActionRequests,
    private readonly outcomes: ActionOutcomes,
  ) {}

  onModuleInit(): void {
    this.options.register(ACTION_UNCONFIRMED, 'action_request', {
      lock: ({ workspaceId, entityId }) => this.requests.lock(workspaceId, entityId),
      options: {
        [ARRIVED]: this.option('done'),
        [DID_NOT_ARRIVE]: this.option('not done'),
      },
    });
  }

  private option(finding: 'done' | 'not done'): EscalationOption {
    return {
      role: 'operator',
      effect: `Records that the action was ${finding}; the agent may still report its result.`,
      run: (escalation, by) => this.found(escalation, by, finding),
    };
  }

  /** @throws InvalidTransition once the agent has reported */
  private async found(
    { workspaceId, entityId }: EscalationEntity,
    { caller, at }: Decider,
    finding: 'done' | 'not done',
  ): Promise<string> {
    const request = (await this.requests.lock(workspaceId, entityId))!;
    if (request.status !== 'unconfirmed') {
      throw new InvalidTransition({
        message: 'It is known by now what came of this action.',
        details: { status: request.status },
      });
    }
    const isDone = finding === 'done';
    const foundBy = actorOf(caller);
    const summary = `${caller.name} found out that it was ${finding}.`;
    const receiptId = this.outcomes.note(request, foundBy, {
      action: isDone ? 'action.confirmed' : 'action.not_done',
      outcome: isDone ? 'success' : 'failure',
      says: `was ${finding}, as ${caller.name} found out`,
      details: { summary },
    });
    this.outcomes.write(request, {
      status: isDone ? 'completed' : 'failed',
      result: { outcome: isDone ? 'succeeded' : 'failed', summary, output: null, at, foundBy },
      receiptId,
    });
    return summary;
  }
}
