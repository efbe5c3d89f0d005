import type {
  GuardianCheckpointOrder,
  GuardianCheckpointSummary,
  GuardianCheckpointView,
} from './checkpoint.dto.js';
import type { CheckpointEntity } from './checkpoint.entity.js';
import type { ListedCheckpoint } from './checkpoints.repository.js';

export function summaryOf(checkpoint: ListedCheckpoint): GuardianCheckpointSummary {
  return {
    checkpointId: checkpoint.checkpointId,
    label: checkpoint.label,
    createdAt: checkpoint.createdAt,
    createdBy: checkpoint.createdBy,
    auto: checkpoint.takenBefore !== null,
    receiptSeq: checkpoint.receiptSeq,
    receiptHash: checkpoint.receiptHash,
    hash: checkpoint.hash,
  };
}

/** `orders` are those of the snapshot that the reader may see. */
export function viewOf(
  checkpoint: CheckpointEntity,
  orders: GuardianCheckpointOrder[],
): GuardianCheckpointView {
  const { mode, settings } = checkpoint.snapshot;
  return { ...summaryOf(checkpoint), snapshot: { mode, orders, settings } };
}
