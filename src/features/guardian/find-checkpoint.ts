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
   * The named one, or the last one before the kill. Nothing has happened since the one that the kill took itself, so that is
   * not meant.
   * @throws NotFound, or ValidationFailed when there is none to go back to
   */
  async execute(
    scope: Scope,
    { mode, killCheckpointId }: Pick<GuardianEntity, 'mode' | 'killCheckpointId'>,
    checkpointId: string | undefined,
  ): Promise<CheckpointEntity> {
    if (checkpointId !== undefined) return this.checkpoints.get(scope, checkpointId);
    const not = mode === 'killed' ? killCheckpointId : null;
    const checkpoint = await this.checkpoints.newest(scope, { not });
    if (!checkpoint) throw thereIsNone();
    return checkpoint;
  }
}

function thereIsNone() {
  const message =
    'there is no checkpoint to go back to; name one in checkpointId, or take one before the next change';
  return new ValidationFailed({ details: [{ path: 'checkpointId', rule: 'isThere', message }] });
}
