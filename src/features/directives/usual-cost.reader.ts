import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { type CapoRole, type Cost, DIRECTIVE_STATUSES } from '../terms/index.js';

/** So many directives say what one usually costs; those that no model drafted say nothing. */
const LAST = 20;

const USUAL = /* sql */ `
select round(avg((cost->>'amount')::numeric), 6)::double precision as amount, max(cost->>'currency') as currency,
  round(avg((cost->>'tokensIn')::numeric))::double precision as tokens_in,
  round(avg((cost->>'tokensOut')::numeric))::double precision as tokens_out
from (
  select d.cost, d.engine from unnest($3::text[]) s (status) cross join lateral (
    select cost, engine, created_at, directive_id from directives
    where workspace_id = $1 and capo = $2 and status = s.status
    order by created_at desc, directive_id desc limit ${LAST}) d
  order by d.created_at desc, d.directive_id desc limit ${LAST}) last
where engine->>'model' is not null
having count(*) > 0`;

/** What a directive usually costs. */
@Injectable()
export class UsualCost {
  constructor(private readonly db: Db) {}

  /** The mean of the last directives that a model drafted for this capo; null when there is none. */
  async read(workspaceId: string, capo: CapoRole): Promise<Cost | null> {
    const [usual] = await this.db.read<Cost>({ workspaceId, teamIds: 'all' }, USUAL, [
      workspaceId,
      capo,
      DIRECTIVE_STATUSES,
    ]);
    return usual ?? null;
  }
}
