import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { FirstSteps } from './setup.dto.js';

const STEPS = /* sql */ `
select
  exists (select from directives where workspace_id = $1) as directive,
  exists (select from approvals where workspace_id = $1 and status = 'approved') as approval,
  exists (select from standing_orders where workspace_id = $1) as "order",
  exists (select from guardians where workspace_id = $1 and epoch > 0) as kill_drill`;

/** Which first steps a workspace has done, in one round trip. */
@Injectable()
export class FirstStepsReader {
  constructor(private readonly db: Db) {}

  async read(scope: Scope): Promise<FirstSteps> {
    const [steps] = await this.db.read<FirstSteps>(scope, STEPS, [scope.workspaceId]);
    return steps!;
  }
}
