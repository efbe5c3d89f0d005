import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import type { CheckpointEntity } from './checkpoint.entity.js';
import { Checkpoints } from './checkpoints.repository.js';
import type { GuardianEntity } from './guardian.entity.js';

/** The checkpoint that a revert goes back to. */
@Injectable()
export class FindCheckpoint {
  constructor(private readonly checkpoints: Checkpoints) {}

  /**
   * The named one; while killed, the last one before the kill; else the newest.
   * @throws NotFound, or ValidationFailed when there is none to go back to
   */
  async execute(
    scope: Scope,
    { mode, killedAt, killCheckpointId }: Pick<GuardianEntity, 'mode' | 'killedAt' | 'killCheckpointId'>,
    checkpointId: string | undefined,
  ): Promise<CheckpointEntity> {
    if (checkpointId !== undefined) return this.checkpoints.get(scope, checkpointId);
    const checkpoint =
      mode === 'killed'
        ? await this.checkpoints.newestBeforeKill(scope, { checkpointId: killCheckpointId, at: killedAt! })
        : await this.checkpoints.newest(scope);
    if (!checkpoint) throw thereIsNone();
    return checkpoint;
  }
}

function thereIsNone() {
  const message =
    'there is no checkpoint to go back to; name one in checkpointId, or take one before the next change';
  return new ValidationFailed({ details: [{ path: 'checkpointId', rule: 'isThere', message }] });
}
