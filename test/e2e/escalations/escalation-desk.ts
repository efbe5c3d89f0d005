import { expect } from 'vitest';
import { Escalations, type NewEscalation } from '../../../src/features/escalations/escalations.repository.js';
import { Db } from '../../../src/platform/database/db.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import type { Client } from '../../support/client.js';
import { type Answer, eventually, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';

export interface EscalationRow {
  id: string;
  kind: string;
  status: string;
  decision: string | null;
  reason: string;
  options: string[];
  teamId: string | null;
}

interface Receipt {
  action: string;
  actor: { type: string; id: string };
  entity: { type: string; id: string };
  summary: string;
  details: Record<string, any>;
}

/** Whoever decides escalations, and what is stored of them. */
export class EscalationDesk extends Desk {
  constructor(
    test: TestApp,
    readonly workspaceId: string = test.workspaceId,
    token: string | undefined = test.owner.token,
  ) {
    super(test, token);
  }

  /** A workspace of its own. */
  static async ofOwn(test: TestApp): Promise<EscalationDesk> {
    const { workspaceId, owner } = await test.createWorkspace();
    return new EscalationDesk(test, workspaceId, owner.token);
  }

  /** The same workspace as this member. */
  as(member: Client): EscalationDesk {
    return new EscalationDesk(this.test, this.workspaceId, member.token);
  }

  async member(role: 'viewer' | 'operator' | 'admin', teamIds: string[] = []): Promise<EscalationDesk> {
    return this.as(await this.test.createMember(this.workspaceId, role, teamIds));
  }

  /** Opens one as a feature of the program does; about a record of its own unless said, which nothing but `dismiss` knows. */
  open(escalation: Partial<NewEscalation> = {}): Promise<string> {
    const { app } = this.test;
    const { workspaceId } = this;
    return app.get(Db).transaction({ workspaceId, teamIds: 'all' }, () =>
      app.get(Escalations).open({
        kind: 'connector_red',
        entity: { type: 'test', id: newId('req') },
        teamId: null,
        reason: 'The printer is on fire.',
        options: ['dismiss'],
        dueAt: null,
        ...escalation,
      }),
    );
  }

  /** Every escalation about this record, oldest first. */
  about(entityId: string): Promise<EscalationRow[]> {
    return this.test.rows<EscalationRow>(
      `select escalation_id as id, kind, status, decision, reason, options, team_id as "teamId" from escalations
       where workspace_id = $1 and entity_id = $2 order by created_at, escalation_id`,
      [this.workspaceId, entityId],
    );
  }

  /** The open escalation about this record, once there is one. */
  async opened(entityId: string, kind: string): Promise<EscalationRow> {
    const rows = await eventually(
      () => this.about(entityId),
      (all) => all.some((one) => one.status === 'open' && one.kind === kind),
    );
    return rows.find((one) => one.status === 'open' && one.kind === kind)!;
  }

  async list(query = ''): Promise<any> {
    const answer = await this.client.get(`/escalations${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  async escalation(id: string): Promise<any> {
    return (await this.client.get(`/escalations/${id}`)).body;
  }

  decide(escalationId: string, decision: string, note?: string, headers = {}): Promise<Answer> {
    const body = { escalationId, decision, ...(note !== undefined && { note }) };
    return this.client.post('/escalations/decide', body, headers);
  }

  async decided(escalationId: string, decision: string, note?: string): Promise<any> {
    const answer = await this.decide(escalationId, decision, note);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  /** The receipts about a record, in their order. */
  async receipts(entityId: string): Promise<Receipt[]> {
    const rows = await this.test.rows<{ body: string }>(
      'select body from receipts where workspace_id = $1 and entity_id = $2 order by seq',
      [this.workspaceId, entityId],
    );
    return rows.map(({ body }) => JSON.parse(body));
  }

  async actionsAbout(entityId: string): Promise<string[]> {
    return (await this.receipts(entityId)).map(({ action }) => action);
  }
}
