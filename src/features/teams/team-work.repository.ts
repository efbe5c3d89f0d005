import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { OpenWork } from './teams.dto.js';

const OPEN_DIRECTIVES = `d.workspace_id = $1 and d.team_id = $2
  and d.status in ('pending_approval', 'queued', 'executing', 'sending', 'halted')`;
const OPEN_PACKETS = `p.status in ('drafted', 'awaiting_approval', 'queued', 'sending', 'halted')`;

/** What was given to another team, or to none. */
interface MovedWork {
  directives: { directiveId: string; title: string }[];
  orders: { standingOrderId: string; name: string; isPaused: boolean }[];
}

/** What belongs to a team and has not ended, over the tables of the features above: nothing else asks them by team. */
@Injectable()
export class TeamWork {
  constructor(private readonly db: Db) {}

  /** What is open, and how many work packets are on their way out just now. */
  async open(workspaceId: string, teamId: string): Promise<OpenWork & { sending: number }> {
    const [row] = await this.db.query<OpenWork & { sending: number }>(
      `select (select count(*)::int from directives d where ${OPEN_DIRECTIVES}) as directives,
         (select count(*)::int from approvals a where a.workspace_id = $1 and a.team_id = $2
           and a.status = 'pending') as approvals,
         (select count(*)::int from work_packets p where p.workspace_id = $1 and p.team_id = $2 and ${OPEN_PACKETS})
           as work_packets,
         (select count(*)::int from standing_orders o where o.workspace_id = $1 and o.team_id = $2
           and o.status <> 'archived') as standing_orders,
         (select count(*)::int from work_packets p where p.workspace_id = $1 and p.team_id = $2
           and p.status = 'sending') as sending`,
      [workspaceId, teamId],
    );
    return row!;
  }

  /**
   * Gives open directives to another team with all their approvals and work packets, and orders: those that allow
   * something are paused, since nobody has allowed it there. Rows are locked in the order in which acts lock them:
   * approvals, directives, work packets.
   */
  async move(workspaceId: string, teamId: string, to: string | null): Promise<MovedWork> {
    const values = [workspaceId, teamId, to];
    const mine = (alias: string) =>
      `${alias}.workspace_id = $1 and ${alias}.team_id = $2 and (${alias}.directive_id in (select d.directive_id
         from directives d where ${OPEN_DIRECTIVES})`;
    const [, , , directives, orders] = await this.db.unit.batch([
      {
        text: `with locked as (select a.approval_id from approvals a where ${mine('a')} or a.status = 'pending')
             order by a.approval_id for no key update)
           update approvals a set team_id = $3 from locked where a.workspace_id = $1 and a.approval_id = locked.approval_id`,
        values,
      },
      {
        text: `select d.directive_id from directives d where ${OPEN_DIRECTIVES}
           order by d.directive_id for no key update`,
        values: [workspaceId, teamId],
      },
      {
        text: `with locked as (select p.work_packet_id from work_packets p where ${mine('p')} or ${OPEN_PACKETS})
             order by p.work_packet_id for no key update)
           update work_packets p set team_id = $3 from locked
           where p.workspace_id = $1 and p.work_packet_id = locked.work_packet_id`,
        values,
      },
      {
        text: `update directives d set team_id = $3 where ${OPEN_DIRECTIVES}
           returning d.directive_id, left(split_part(d.text, E'\\n', 1), 120) as title`,
        values,
      },
      {
        text: `with was as (select o.standing_order_id, o.effect = 'allow' and o.status in ('active', 'shadow') as is_paused
             from standing_orders o where o.workspace_id = $1 and o.team_id = $2 and o.status <> 'archived'
             order by o.standing_order_id for no key update)
           update standing_orders o set team_id = $3, updated_at = now(),
             status = case when was.is_paused then 'paused' else o.status end
           from was where o.workspace_id = $1 and o.standing_order_id = was.standing_order_id
           returning o.standing_order_id, o.name, was.is_paused`,
        values,
      },
    ]);
    return { directives, orders } as MovedWork;
  }
}
