import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import type { PastDecision } from './replay.js';

/** As many as are in memory together, twice: one chunk is read while the one before it is replayed. */
const CHUNK = 250;

/**
 * Of each work packet the newest decision, as of $3. Ids sort by the time they were made, so this is the sequence in which decisions
 * were made. Of the parameters only what a draft asks for is read: a mail may be 50 KB long.
 */
const NEXT = /* sql */ `
select d.decision_id, d.work_packet_id, d.team_id, d.outcome, d.input, d.target,
  case when cardinality($4::text[]) = 0 then '{}'
    else (select coalesce(jsonb_object_agg(name, d.params->name), '{}') from unnest($4::text[]) name where d.params ? name)
  end as params
from policy_decisions d
where d.workspace_id = $1 and d.decision_id > $2 and d.decision_id <= $3
  and d.decision_id = (select max(n.decision_id) from policy_decisions n where n.workspace_id = d.workspace_id
    and n.work_packet_id = d.work_packet_id and n.decision_id <= $3)
order by d.decision_id limit ${CHUNK}`;

/** How far it goes, and in which zone days begin. */
export interface EndOfHistory {
  /** The id of the last decision; empty where nothing was decided yet. */
  until: string;
  zone: string;
}

/** The decisions of the past, of every team: what an order does, it does to all that it matches. */
@Injectable()
export class History {
  constructor(private readonly db: Db) {}

  async end(workspaceId: string): Promise<EndOfHistory> {
    const [row] = await this.db.read<EndOfHistory>(
      { workspaceId, teamIds: 'all' },
      `select app.workspace_zone($1) as zone, coalesce((
         select decision_id from policy_decisions where workspace_id = $1 order by decision_id desc limit 1), '') as until`,
      [workspaceId],
    );
    return row!;
  }

  /** In chunks, each read while the one before is being used. @param names of the parameters to read */
  async *until(workspaceId: string, until: string, names: readonly string[]): AsyncGenerator<PastDecision[]> {
    const read = (after: string) =>
      this.db.read<PastDecision>({ workspaceId, teamIds: 'all' }, NEXT, [workspaceId, after, until, names]);
    let chunk = await read('');
    while (chunk.length > 0) {
      const next = chunk.length === CHUNK ? read(chunk.at(-1)!.decisionId) : Promise.resolve([]);
      // Whoever stops early never waits for it.
      next.catch(() => undefined);
      yield chunk;
      chunk = await next;
    }
  }
}
