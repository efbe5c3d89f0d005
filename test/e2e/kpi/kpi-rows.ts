import { newId } from '../../../src/platform/kernel/ids.js';
import type { KpiView } from '../../../src/features/kpi/kpi.dto.js';

export type Rows = <T = Record<string, unknown>>(sql: string, values?: unknown[]) => Promise<T[]>;

/** Rows as acts leave them, at any time: what counts them counts them as it counts those of acts. */
export class KpiRows {
  constructor(
    readonly rows: Rows,
    readonly workspaceId: string,
  ) {}

  async revenue(at: number, amount: number, currency = 'USD', teamId: string | null = null): Promise<void> {
    await this.rows(
      `insert into revenue_events (event_id, workspace_id, team_id, amount, currency, source, occurred_at, recorded_by, created_at)
       values ($1, $2, $3, $4, $5, 'shop', $6, '{}', now())`,
      [newId('rev'), this.workspaceId, teamId, amount, currency, new Date(at)],
    );
  }

  async directive(
    at: number,
    amount: number,
    currency = 'USD',
    teamId: string | null = null,
  ): Promise<string> {
    const directiveId = newId('dir');
    await this.rows(
      `insert into directives (directive_id, workspace_id, team_id, text, capo, routed_by, priority, requires_approval,
         context, status, cost, created_by, created_at, started_at)
       values ($1, $2, $3, 'x', 'capo_ops', 'operator', 'medium', true, '{}', 'executed', $4, '{}', $5, $5)`,
      [directiveId, this.workspaceId, teamId, { amount, currency }, new Date(at)],
    );
    return directiveId;
  }

  /** A directive that was routed for so much, and that no capo has begun. */
  async unstarted(
    at: number,
    amount: number,
    currency = 'USD',
    teamId: string | null = null,
  ): Promise<string> {
    const directiveId = newId('dir');
    await this.rows(
      `insert into directives (directive_id, workspace_id, team_id, text, routed_by, priority, requires_approval,
         context, status, cost, created_by, created_at)
       values ($1, $2, $3, 'x', 'consigliere', 'medium', true, '{}', 'queued', $4, '{}', $5)`,
      [directiveId, this.workspaceId, teamId, { amount, currency }, new Date(at)],
    );
    return directiveId;
  }

  async begin(directiveId: string, at: number): Promise<void> {
    await this.rows('update directives set started_at = $2 where directive_id = $1', [
      directiveId,
      new Date(at),
    ]);
  }

  /** What a model cost that belongs to no directive. */
  async modelCharge(at: number, amount: number, currency = 'USD'): Promise<void> {
    await this.rows(
      `insert into model_charges (workspace_id, receipt_id, amount, currency, tokens_in, tokens_out, charged_at)
       values ($1, $2, $3, $4, 900, 120, $5)`,
      [this.workspaceId, newId('rcp'), amount, currency, new Date(at)],
    );
  }

  /** What the drafts of a directive cost, as far as is known by now. */
  async charge(directiveId: string, amount: number): Promise<void> {
    await this.rows(
      `update directives set cost = cost || jsonb_build_object('amount', $2::numeric) where directive_id = $1`,
      [directiveId, amount],
    );
  }

  async packet(teamId: string | null = null): Promise<string> {
    const workPacketId = newId('pkt');
    await this.rows(
      `insert into work_packets (work_packet_id, workspace_id, team_id, directive_id, position, capo, engine, title, kind,
         action_type, params, reversibility, status, leverage_score, multipliers, rationale, created_at)
       values ($1, $2, $3, $4, 0, 'capo_ops', 'ops', 'x', 'document', 'document.file', '{}', 'reversible', 'queued', 1,
         '{}', 'x', now())`,
      [workPacketId, this.workspaceId, teamId, await this.directive(Date.now(), 0, 'USD', teamId)],
    );
    return workPacketId;
  }

  async execute(workPacketId: string, at: number): Promise<void> {
    await this.rows(
      `update work_packets set status = 'executed', executed_at = $2 where work_packet_id = $1`,
      [workPacketId, new Date(at)],
    );
  }

  async undo(workPacketId: string): Promise<void> {
    await this.rows(`update work_packets set status = 'reverted' where work_packet_id = $1`, [workPacketId]);
  }

  async approval(at: number, teamId: string | null = null): Promise<string> {
    const approvalId = newId('apr');
    await this.rows(
      `insert into approvals (approval_id, workspace_id, team_id, directive_id, kind, round, status, ready, title, summary,
         priority, risk, reversibility, requested_by, requested_at, expires_at, on_expiry)
       values ($1, $2, $3, $4, 'output', 0, 'pending', false, 't', 's', 'medium', 'low', 'reversible', '{}', $5,
         'infinity', 'reject')`,
      [
        approvalId,
        this.workspaceId,
        teamId,
        await this.directive(Date.now(), 0, 'USD', teamId),
        new Date(at),
      ],
    );
    return approvalId;
  }

  async decide(approvalId: string, at: number, status = 'approved'): Promise<void> {
    await this.rows(`update approvals set status = $2, decided_at = $3 where approval_id = $1`, [
      approvalId,
      status,
      new Date(at),
    ]);
  }

  async evalRun(at: number, passed: boolean, teamId: string | null = null): Promise<void> {
    await this.rows(
      `insert into eval_runs (workspace_id, eval_run_id, team_id, name, kind, target_entity_type, target_entity_id, occasion,
         status, score, threshold, passed, findings, findings_omitted, duration_ms, created_by, created_at, receipt_id)
       values ($1, $2, $3, 'x', 'skill_definition_syntax', 'skill', 'x', 'request', 'completed', 1, 0.8, $4, '[]', 0, 1, '{}',
         $5, 'x')`,
      [this.workspaceId, newId('evl'), teamId, passed, new Date(at)],
    );
  }

  /** Gives everything of a team to another. */
  async move(from: string | null, to: string | null): Promise<void> {
    for (const table of ['directives', 'approvals', 'work_packets']) {
      await this.rows(
        `update ${table} set team_id = $3 where workspace_id = $1 and team_id is not distinct from $2`,
        [this.workspaceId, from, to],
      );
    }
  }

  async setZone(zone: string): Promise<void> {
    await this.rows('update workspaces set timezone = $2 where workspace_id = $1', [this.workspaceId, zone]);
  }

  /** Adds up what was noted, as happens every two seconds beside the acts. */
  async fold(limit = 20_000): Promise<void> {
    await this.rows('select app.fold_tallies($1)', [limit]);
  }
}

/** What a full count has of an answer: without the tile of another feature, and without the units. */
export function countedOf({ tiles }: KpiView): unknown {
  const { connectorHealth: _other, ...counted } = tiles;
  return Object.fromEntries(Object.entries(counted).map(([name, { unit: _unit, ...tile }]) => [name, tile]));
}
