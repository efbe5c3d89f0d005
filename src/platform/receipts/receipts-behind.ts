import type { Statement } from '../database/batch.js';

/** What receipts of one action behind a receipt are about, the newest first: rows of `entity_id` and `seq`. */
export function receiptsBehind(workspaceId: string, action: string, receiptSeq: number): Statement {
  return {
    text: `select entity_id, seq from receipts where workspace_id = $1 and action = $2 and seq > $3 order by seq desc`,
    values: [workspaceId, action, receiptSeq],
  };
}
