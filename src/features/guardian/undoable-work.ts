import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';

/**
 * Work that a revert undoes. The guardian knows no kind of work; the feature whose work it is registers itself here, and does
 * the work `packet.compensate` on each packet of a revert's plan in turn.
 */
export interface Undoable {
  /**
   * What was carried out behind this receipt, the newest first, at most `limit` rows of `work_packet_id`, `team_id`,
   * `reversibility`, `compensation` and `seq`: the number of the receipt of its execution, null while it is being carried out.
   */
  carriedOutStatement(workspaceId: string, since: { receiptSeq: number; limit: number }): Statement;
}

@Injectable()
export class UndoableWork {
  #registered: Undoable | undefined;

  register(work: Undoable): void {
    this.#registered = work;
  }

  carriedOutStatement(...args: Parameters<Undoable['carriedOutStatement']>): Statement {
    if (!this.#registered) throw new Error('no feature has registered work that can be undone');
    return this.#registered.carriedOutStatement(...args);
  }
}
