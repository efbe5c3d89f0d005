import { Injectable } from '@nestjs/common';
import { type Caller, onlyOf, scopeOf } from '../../platform/auth/caller.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { AwaitChange } from '../approvals/await-change.js';
import type { ActionRequestEntity } from './action-request.entity.js';
import { ACTION_TOPIC } from './action-outcomes.js';
import { ActionRequests } from './action-requests.repository.js';

/** Reads an action request, waiting for its decision if asked to. */
@Injectable()
export class AwaitActionRequest {
  constructor(
    private readonly requests: ActionRequests,
    private readonly awaitChange: AwaitChange,
  ) {}

  /** @throws NotFound, also for what another agent asked for */
  execute(caller: Caller, actionRequestId: string, waitSeconds: number): Promise<ActionRequestEntity> {
    const scope = scopeOf(caller);
    const look = async () => {
      const request = await this.requests.find(scope, actionRequestId);
      const ofToken = onlyOf(caller);
      if (!request || (ofToken !== undefined && request.tokenRootId !== ofToken)) throw new NotFound();
      return request;
    };
    const waited = { topic: ACTION_TOPIC, id: actionRequestId, waitSeconds };
    return this.awaitChange.until(waited, look, ({ status }) => status !== 'pending');
  }
}
