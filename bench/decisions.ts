import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { APPLICATION_OPTIONS, initialise, rootModule } from '../src/application.js';
import { loadConfig } from '../src/platform/config/config.js';
import { timed } from './calls.js';
import { decide } from './decide.js';
import { growthRows } from './growth-rows.js';
import { isQuick } from './size.js';
import { asOwner, createWorkspaces, type Workspace } from './workspaces.js';

/** How many uses are recorded when decisions are timed: in the smaller and in the larger workspace. */
export const USES = isQuick ? ([1_000, 20_000] as const) : ([1_000, 500_000] as const);
const DECISIONS = isQuick ? 50 : 300;
const WARM_UP = 30;
/** How many of the 200 active orders match: so many as somebody may have for one type of action, and all of them. */
const MATCHING = [10, 200] as const;

/** The others are about signals; each workspace's orders are numbered by their names. */
const LET_MATCH = `update standing_orders set match = jsonb_set(match, '{actionTypes, 0}',
  case when substr(name, 7)::int <= $1 then '"document.file"' else '"signal.raise"' end::jsonb)`;

const SETTLE = `select app.settle_order_usage($1, array(select standing_order_id from standing_orders
  where workspace_id = $1), 'UTC', now())`;

/** Milliseconds of each decision, in the workspace with fewer and in that with more recorded uses. */
export interface DecisionTimes {
  matching: number;
  few: number[];
  many: number[];
}

/**
 * Decisions about a work packet under 200 active orders with limits and a budget, in two workspaces that differ by how many
 * uses are recorded. They take turns, so that whatever else the machine does falls on both.
 */
export async function measureDecisions(environment: Record<string, string>): Promise<DecisionTimes[]> {
  const url = environment['DATABASE_URL']!;
  const config = loadConfig({
    ...environment,
    NODE_ENV: 'test',
    PROCESS_ROLE: 'api',
    PORT: '0',
    LOG_LEVEL: 'error',
  });
  const [few, many] = await asOwner(url, async (owner) => {
    const workspaces = await createWorkspaces(owner, USES.length);
    await owner.query('set session_replication_role = replica');
    for (const [index, { workspaceId }] of workspaces.entries()) {
      const rows = growthRows({ workspaceId, from: 1, to: USES[index]!, firstOrder: 1_000 * index });
      for (const { table, text } of rows) {
        if (table === 'standing_orders' || table === 'standing_order_uses') await owner.query(text);
      }
    }
    await owner.query('set session_replication_role = origin');
    // As the last use of each order leaves it.
    for (const { workspaceId } of workspaces) await owner.query(SETTLE, [workspaceId]);
    await owner.query('vacuum analyze');
    return workspaces as [Workspace, Workspace];
  });
  const app = await NestFactory.create<NestExpressApplication>(
    await rootModule(config, url),
    APPLICATION_OPTIONS,
  );
  await initialise(app, config);
  try {
    const all: DecisionTimes[] = [];
    for (const matching of MATCHING) {
      await asOwner(url, (owner) => owner.query(LET_MATCH, [matching]));
      const times: DecisionTimes = { matching, few: [], many: [] };
      for (const { workspaceId } of [few, many]) await timed(WARM_UP, () => decide(app, workspaceId));
      for (let round = 0; round < DECISIONS; round++) {
        times.few.push(...(await timed(1, () => decide(app, few.workspaceId))));
        times.many.push(...(await timed(1, () => decide(app, many.workspaceId))));
      }
      all.push(times);
    }
    return all;
  } finally {
    await app.close();
  }
}
