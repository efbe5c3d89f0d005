import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import type { Scope } from '../../../platform/database/unit-of-work.js';
import type { PastDecision } from './replay.js';

/** As many as are in memory together, twice: one chunk is read while the one before it is replayed. */
const CHUNK = 250;

/**
 * The next decisions up to ($4, $5), in the sequence in which they were made, and of each whether its work packet, or its action
 * request, was decided later again. The chunk is found first: with that condition in the same select the planner reads a whole history by
 * work packets, and sorts it, for each chunk. Of the parameters only what a draft asks for is read: a mail may be 50 KB long.
 */
const NEXT = /* sql */ `
with chunk as materialized (
  select at, decision_id, work_packet_id, team_id, outcome, input, target, params from policy_decisions
  where workspace_id = $1 and (at, decision_id) > ($2, $3) and (at, decision_id) <= ($4, $5)
  order by at, decision_id limit ${CHUNK}
)
select d.at, d.decision_id, d.work_packet_id, d.team_id, d.outcome, d.input, d.target,
  case when cardinality($6::text[]) = 0 then '{}'
    else (select coalesce(jsonb_object_agg(name, d.params->name), '{}') from unnest($6::text[]) name where d.params ? name)
  end as params,
  coalesce(p.title, r.title) as title, r.tool, r.agent,
  case when p.kind in ('message', 'call') then p.target else r.params #>> string_to_array(t.recipients_path, '.') end as recipient,
  coalesce(i.requires_approval, false) as asks_anyway,
  p.status is not distinct from 'failed' and coalesce(p.result->'error'->>'code', '') not like '%UNCONFIRMED'
    or coalesce(r.status in ('cancelled', 'expired') and r.consume_by is not null, false) as is_given_back,
  d.decision_id = (select n.decision_id from policy_decisions n where n.workspace_id = $1
    and n.work_packet_id = d.work_packet_id and (n.at, n.decision_id) <= ($4, $5)
    order by n.at desc, n.decision_id desc limit 1) as is_newest
from chunk d left join work_packets p on p.workspace_id = $1 and p.work_packet_id = d.work_packet_id
  left join directives i on i.workspace_id = $1 and i.directive_id = p.directive_id
  left join action_requests r on r.workspace_id = $1 and r.action_request_id = d.work_packet_id
  left join tools t on t.workspace_id = $1 and t.name = r.tool and t.status <> 'proposed'
order by d.at, d.decision_id`;

/** How far it goes, and in which zone days begin. */
export interface EndOfHistory {
  /** The id of the last decision; empty where nothing was decided yet. */
  until: string;
  /** When that was made. */
  untilAt: number;
  zone: string;
  /** Without teams every work packet belongs to none. */
  hasTeams: boolean;
}

/** Behind which decision a chunk begins. */
type Place = Pick<Row, 'at' | 'decisionId'>;

interface Row extends PastDecision {
  at: number;
  isNewest: boolean;
}

/** The decisions of the past about work packets and action requests, of every team: what an order does, it does to all that it matches. */
@Injectable()
export class History {
  constructor(private readonly db: Db) {}

  async end(workspaceId: string): Promise<EndOfHistory> {
    const [row] = await this.db.read<EndOfHistory>(
      { workspaceId, teamIds: 'all' },
      `select app.workspace_zone($1) as zone, exists (select from teams where workspace_id = $1) as has_teams, coalesce(d.decision_id, '') as until, coalesce(d.at, 'epoch') as until_at
       from (values (1)) one left join lateral (select decision_id, at from policy_decisions where workspace_id = $1
         order by at desc, decision_id desc limit 1) d on true`,
      [workspaceId],
    );
    return row!;
  }

  /** Those of these directives that were handed in for approval: no order spares anybody the decision about them. */
  async askingAnyway(scope: Scope, directiveIds: readonly (string | null)[]): Promise<Set<string | null>> {
    const rows = await this.db.read<{ directiveId: string }>(
      scope,
      'select directive_id from directives where workspace_id = $1 and directive_id = any($2) and requires_approval',
      [scope.workspaceId, directiveIds],
    );
    return new Set(rows.map(({ directiveId }) => directiveId));
  }

  /** Of each work packet the newest decision, in chunks, each read while the one before is being used. @param names of the parameters to read */
  async *until(
    workspaceId: string,
    { until, untilAt }: EndOfHistory,
    names: readonly string[],
  ): AsyncGenerator<PastDecision[]> {
    const read = ({ at, decisionId }: Place) => {
      const values = [workspaceId, new Date(at), decisionId, new Date(untilAt), until, names];
      return this.db.read<Row>({ workspaceId, teamIds: 'all' }, NEXT, values);
    };
    let chunk = await read({ at: 0, decisionId: '' });
    while (chunk.length > 0) {
      const next = chunk.length === CHUNK ? read(chunk.at(-1)!) : Promise.resolve([]);
      // A consumer that stops early never awaits it.
      next.catch(() => undefined);
      yield chunk.filter(({ isNewest }) => isNewest);
      chunk = await next;
    }
  }
}
