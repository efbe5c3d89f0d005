import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { CapoRole, Cost } from '../terms/index.js';

/** So many directives say what one usually costs; those that no model drafted say nothing. */
const LAST = 20;

const USUAL = /* sql */ `
select round(avg((cost->>'amount')::numeric), 6)::double precision as amount, max(cost->>'currency') as currency,
  round(avg((cost->>'tokensIn')::numeric))::double precision as tokens_in,
  round(avg((cost->>'tokensOut')::numeric))::double precision as tokens_out
from (
  select cost, engine from directives where workspace_id = $1 and capo = $2
  order by created_at desc, directive_id desc limit ${LAST}) last
where engine->>'model' is not null
having count(*) > 0`;

/** What a directive usually costs. */
@Injectable()
export class UsualCost {
  constructor(private readonly db: Db) {}

  /** The mean of the last directives that a model drafted for this capo; null when there is none. */
  async read(workspaceId: string, capo: CapoRole): Promise<Cost | null> {
    const [usual] = await this.db.read<Cost>({ workspaceId, teamIds: 'all' }, USUAL, [workspaceId, capo]);
    return usual ?? null;
  }
}
