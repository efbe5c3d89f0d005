import { randomBytes } from 'node:crypto';
import { Tallies } from '../../src/platform/database/tallies.js';
import { type IdPrefix, newId } from '../../src/platform/kernel/ids.js';
import { Worker } from '../../src/platform/work/worker.js';
import { leaveActionRequest } from '../e2e/action-requests/action-request-rows.js';
import { leaveQuestion } from '../e2e/approvals/question-rows.js';
import { Desk } from '../e2e/directives/desk.js';
import { leavePack } from '../e2e/packs/pack-rows.js';
import { leaveDecided } from '../e2e/standing-orders/decided-approvals.js';
import { leaveChecked } from '../e2e/connector-health/connector-rows.js';
import { EscalationDesk } from '../e2e/escalations/escalation-desk.js';
import { leaveReport, leaveSection } from '../e2e/reports/report-rows.js';
import { SCHEDULE } from '../e2e/schedules/schedule-desk.js';
import { SignalDesk } from '../e2e/records/signal-desk.js';
import { leaveTool } from '../e2e/tools/tool-rows.js';
import { leaveDelivered } from '../e2e/webhooks/webhook-rows.js';
import type { TestApp } from '../support/test-app.js';
import type { Membership, Place } from './matrix-rights.js';

const MEMO = 'File this memo for the board: The delivery delays end on Friday.';
const DENIED_MAIL = 'Email jane@denied.example, subject "Delivery": The delivery arrives on Friday.';
const NOTHING = { actionTypes: ['email.send'], fields: { 'params.subject': { $eq: 'none' } } };

/** What a request is about, with all that a valid one needs to know of it. */
export interface Row {
  /** Empty where the request names no row. */
  id: string;
  teamId: string | null;
  contentHash?: string;
}

/** Where rows of a place are, and who makes them. */
interface Where {
  workspaceId: string;
  teamId: string | null;
  desk: Desk;
}

type Make = (where: Where, place: Place) => Promise<Row>;

/** The same under ids that nothing has. */
export const missing = ({ id, ...row }: Row): Row => ({
  ...row,
  id: newId(id.slice(0, id.indexOf('_')) as IdPrefix),
  teamId: newId('team'),
});

/**
 * A workspace with two teams, another workspace, and rows of every kind in each place. They are made as the program makes
 * them, with its worker at work; then the worker stops, so that what changes afterwards is changed by requests alone. A
 * call that ends its row gets a copy of it.
 */
export class MatrixRows {
  readonly #rows = new Map<string, Row>();

  private constructor(
    readonly test: TestApp,
    private readonly places: Record<Place, Where>,
  ) {}

  static async prepare(test: TestApp, needed: Iterable<{ row: RowKind; place: Place }>): Promise<MatrixRows> {
    const [ours, others] = [await test.createWorkspace(), await test.createWorkspace()];
    const [own, other, foreign] = [
      await test.createTeam(ours.workspaceId, 'Own'),
      await test.createTeam(ours.workspaceId, 'Other'),
      await test.createTeam(others.workspaceId, 'Foreign'),
    ];
    const desk = new Desk(test, ours.owner.token);
    const at = (teamId: string | null): Where => ({ workspaceId: ours.workspaceId, teamId, desk });
    const rows = new MatrixRows(test, {
      'own team': at(own),
      'other team': at(other),
      'no team': at(null),
      'the workspace': at(null),
      'by default': at(null),
      'other workspace': {
        workspaceId: others.workspaceId,
        teamId: foreign,
        desk: new Desk(test, others.owner.token),
      },
    });
    await Promise.all([...needed].map(({ row, place }) => rows.make(row, place)));
    await rows.stopWork();
    return rows;
  }

  get workspaceId(): string {
    return this.places['own team'].workspaceId;
  }

  /** An owner who asks for nothing that the matrix is about. */
  get desk(): Desk {
    return this.places['own team'].desk;
  }

  /** A member with these roles, and the token of it. */
  async member({ role, teamRole }: Membership): Promise<{ memberId: string; token: string }> {
    const { workspaceId, teamId } = this.places['own team'];
    const teams = teamRole === 'none' ? [] : [teamId!];
    const member = await this.test.createMember(workspaceId, role, teams);
    if (teamRole !== 'none') {
      await this.test.rows('update team_members set role = $2 where member_id = $1', [
        member.memberId,
        teamRole,
      ]);
    }
    return member;
  }

  /** The row of this kind that is there. */
  of(kind: RowKind | undefined, place: Place): Row {
    const { teamId } = this.places[place];
    if (kind === undefined) return { id: '', teamId };
    // The team of the place itself, in which the callers are.
    if (kind === 'team') return { id: teamId ?? '', teamId };
    return this.#rows.get(`${kind} ${place}`)!;
  }

  /** One more of this kind, which a call may end. */
  another(kind: RowKind, place: Place): Promise<Row> {
    const where = this.places[place];
    const copy = COPIES[kind];
    return copy ? copy(this.test, this.of(kind, place)) : MAKERS[kind](this.test)(where, place);
  }

  private async make(kind: RowKind, place: Place): Promise<void> {
    if (kind === 'team') return;
    this.#rows.set(`${kind} ${place}`, await MAKERS[kind](this.test)(this.places[place], place));
  }

  private async stopWork(): Promise<void> {
    const { app } = this.test;
    await app.get(Worker).beforeApplicationShutdown();
    const tallies = app.get(Tallies);
    await tallies.fold();
    // What reads add up themselves is added up beside requests too; it changes tables, and nothing that anyone sees.
    tallies.fold = async () => undefined;
  }
}

/** As a directive of this place is asked for; owners name the team, since they default to none. */
const inTeam = ({ teamId }: Where) => (teamId === null ? {} : { teamId });

const work: Make = async (where) => {
  const { desk, teamId } = where;
  const { directiveId } = await desk.handInReady({ text: MEMO, capo: 'capo_ops', ...inTeam(where) });
  return { id: directiveId, teamId };
};

/** A memo that was filed. */
async function filed(where: Where): Promise<string> {
  const { desk } = where;
  const { directiveId, approvalId } = await desk.handInReady({
    text: MEMO,
    capo: 'capo_ops',
    ...inTeam(where),
  });
  await desk.approve(approvalId);
  await desk.until(directiveId, 'executed');
  return directiveId;
}

const order =
  (body: object): Make =>
  async ({ desk, teamId }) => {
    const answer = await desk.client.post('/standing-orders', { name: 'Of the matrix', teamId, ...body });
    if (answer.status !== 201) throw new Error(answer.text);
    return { id: answer.body.standingOrderId, teamId };
  };

const memberWith =
  (test: TestApp, role: 'viewer' | 'admin'): Make =>
  async ({ workspaceId, teamId }) => {
    const { memberId } = await test.createMember(workspaceId, role, teamId === null ? [] : [teamId]);
    return { id: memberId, teamId };
  };

const tokenOf =
  (test: TestApp, role: 'viewer' | 'owner'): Make =>
  async ({ workspaceId, teamId }) => {
    const { memberId } = await test.createMember(workspaceId, role);
    const [row] = await test.rows<{ token_id: string }>('select token_id from tokens where member_id = $1', [
      memberId,
    ]);
    return { id: row!.token_id, teamId };
  };

const newAddress = () => `${newId('usr')}@example.com`;
const newHash = () => randomBytes(32).toString('hex');

export type RowKind =
  | 'directive'
  | 'failed directive'
  | 'schedule'
  | 'approval'
  | 'work packet'
  | 'document'
  | 'signal'
  | 'escalation'
  | 'order that allows'
  | 'order that denies'
  | 'order that was paused'
  | 'order that only an owner activates'
  | 'conversation'
  | 'family report'
  | 'eval run'
  | 'report'
  | 'report section'
  | 'skill pack'
  | 'suggestion'
  | 'team'
  | 'member of a team'
  | 'viewer'
  | 'admin'
  | 'invite'
  | 'invite of an admin'
  | 'token of a viewer'
  | 'token of an owner'
  | 'destination'
  | 'paused destination'
  | 'delivery'
  | 'connector'
  | 'checkpoint'
  | 'tool'
  | 'action request'
  | 'question'
  | 'approval of a question'
  | 'revert';

const ALLOW = { effect: 'allow', match: { actionTypes: ['document.file'] } };

const MAKERS: Record<RowKind, (test: TestApp) => Make> = {
  directive: () => work,
  'failed directive': () => async (where) => {
    const { desk, teamId } = where;
    const denied = { 'params.to': { $domainIn: ['denied.example'] } };
    await order({ effect: 'deny', match: { actionTypes: ['email.send'], fields: denied } })(where, 'no team');
    const body = { directive: DENIED_MAIL, capo: 'capo_ops', requiresApproval: false, ...inTeam(where) };
    const { directiveId } = (await desk.client.post('/directives', body)).body;
    await desk.until(directiveId, 'failed');
    return { id: directiveId, teamId };
  },
  schedule: () => async (where) => {
    const answer = await where.desk.client.post('/schedules', { ...SCHEDULE, ...inTeam(where) });
    if (answer.status !== 201) throw new Error(answer.text);
    return { id: answer.body.scheduleId, teamId: where.teamId };
  },
  approval: () => async (where, place) => {
    const { id } = await work(where, place);
    const { approvalId } = await where.desk.directive(id);
    const { contentHash } = await where.desk.approval(approvalId);
    return { id: approvalId, teamId: where.teamId, contentHash };
  },
  'work packet': () => async (where) => {
    const [packet] = await where.desk.packets(await filed(where));
    return { id: packet.workPacketId, teamId: where.teamId };
  },
  document: (test) => async (where) => {
    const [row] = await test.rows<{ document_id: string }>(
      'select document_id from documents where directive_id = $1',
      [await filed(where)],
    );
    return { id: row!.document_id, teamId: where.teamId };
  },
  signal:
    (test) =>
    async ({ workspaceId, teamId }) => ({
      id: await new SignalDesk(test).raise({ teamId }, workspaceId),
      teamId,
    }),
  escalation:
    (test) =>
    async ({ workspaceId, teamId }) => ({
      id: await new EscalationDesk(test, workspaceId).open({ teamId }),
      teamId,
    }),
  'order that allows': () => order(ALLOW),
  'order that denies': () => order({ effect: 'deny', match: NOTHING }),
  'order that was paused': () => async (where, place) => {
    const row = await order(ALLOW)(where, place);
    await where.desk.client.post(`/standing-orders/${row.id}/pause`);
    return row;
  },
  'order that only an owner activates': () =>
    order({ effect: 'allow', match: { actionTypes: ['email.send'] } }),
  'eval run': () => async (where, place) => {
    const { id, teamId } = await order(ALLOW)(where, place);
    const body = { name: 'Of the matrix', targetEntityType: 'standing_order', targetEntityId: id };
    const answer = await where.desk.client.post('/evals/run', body);
    if (answer.status !== 201) throw new Error(answer.text);
    return { id: answer.body.evalRunId, teamId };
  },
  'skill pack':
    (test) =>
    async ({ workspaceId, teamId }) => ({ id: await leavePack(test, workspaceId), teamId }),
  conversation:
    () =>
    async ({ desk, teamId }) => {
      const { body } = await desk.client.post('/consigliere/chat', { message: 'What waits for me?' });
      return { id: body.conversationId, teamId };
    },
  'family report':
    (test) =>
    async ({ workspaceId, teamId, desk }) => {
      // What belongs to no team is the report of whoever is in none.
      const reader = teamId === null ? await test.createMember(workspaceId, 'viewer') : desk.client;
      const { body } = await reader.get(`/family/report${teamId === null ? '' : `?teamId=${teamId}`}`);
      return { id: body.reportId, teamId };
    },
  suggestion:
    (test) =>
    async ({ workspaceId, teamId }) => {
      const to = `jane@${newId('msg').replace('_', '-')}.example`;
      return { id: await leaveDecided(test, workspaceId, { teamId, to }), teamId };
    },
  team:
    (test) =>
    async ({ workspaceId }) => {
      const teamId = await test.createTeam(workspaceId, newId('team'));
      return { id: teamId, teamId };
    },
  'member of a team': (test) => memberWith(test, 'viewer'),
  viewer: (test) => memberWith(test, 'viewer'),
  admin: (test) => memberWith(test, 'admin'),
  invite:
    () =>
    async ({ desk, teamId }) => {
      const path = teamId === null ? '/members' : `/teams/${teamId}/members`;
      const { body } = await desk.client.post(path, { email: newAddress(), role: 'operator' });
      return { id: (body.invite ?? body).inviteId, teamId };
    },
  'invite of an admin':
    () =>
    async ({ desk }) => {
      const { body } = await desk.client.post('/members', { email: newAddress(), role: 'admin' });
      return { id: body.inviteId, teamId: null };
    },
  'token of a viewer': (test) => tokenOf(test, 'viewer'),
  'token of an owner': (test) => tokenOf(test, 'owner'),
  destination:
    (test) =>
    async ({ workspaceId, teamId }) => ({
      id: (await leaveDelivered(test, workspaceId)).destinationId,
      teamId,
    }),
  'paused destination':
    (test) =>
    async ({ workspaceId, teamId }) => {
      const { destinationId } = await leaveDelivered(test, workspaceId);
      await test.rows(`update webhook_destinations set status = 'paused' where destination_id = $1`, [
        destinationId,
      ]);
      return { id: destinationId, teamId };
    },
  delivery:
    (test) =>
    async ({ workspaceId, teamId }) => ({
      id: (await leaveDelivered(test, workspaceId)).deliveryId,
      teamId,
    }),
  connector:
    (test) =>
    async ({ workspaceId, teamId }) => ({ id: await leaveChecked(test, workspaceId), teamId }),
  checkpoint:
    () =>
    async ({ desk, teamId }) => ({
      id: (await desk.client.post('/guardian/checkpoint')).body.checkpointId,
      teamId,
    }),
  tool:
    () =>
    async ({ desk, teamId }) => {
      const { name, fingerprint } = await leaveTool(desk.client);
      return { id: name, teamId, contentHash: fingerprint };
    },
  'action request': () => async (where) => {
    const { actionRequestId, paramsHash } = await leaveActionRequest(where.desk.client, inTeam(where));
    return { id: actionRequestId, teamId: where.teamId, contentHash: paramsHash };
  },
  question: () => async (where) => {
    const { questionId } = await leaveQuestion(where.desk.client, inTeam(where));
    return { id: questionId, teamId: where.teamId };
  },
  'approval of a question': () => async (where) => {
    const { approvalId } = await leaveQuestion(where.desk.client, inTeam(where));
    return { id: approvalId, teamId: where.teamId };
  },
  report:
    (test) =>
    async ({ workspaceId, teamId }) => ({ id: await leaveReport(test.rows, workspaceId), teamId }),
  'report section':
    (test) =>
    async ({ workspaceId, teamId }) => ({ id: await leaveSection(test.rows, workspaceId), teamId }),
  // A true one would stop the work of the other rows.
  revert:
    (test) =>
    async ({ workspaceId, teamId }) => {
      const revertId = newId('rvt');
      await test.rows(
        `insert into reverts (revert_id, workspace_id, mode, plan, created_by, created_at)
         values ($1, $2, 'resume', '[]', '{"type": "system", "id": "system", "name": "Consigliere", "via": "schedule"}', now())`,
        [revertId, workspaceId],
      );
      return { id: revertId, teamId };
    },
};

type Copy = (test: TestApp, row: Row) => Promise<Row>;

/** The same row once more under an id of its own; `changes` are what must differ. */
const copyOf =
  (table: string, column: string, changes: () => object = () => ({})): Copy =>
  async ({ rows }, row) => {
    const { id } = missing(row);
    await rows(
      `insert into ${table} select copy.* from ${table} t,
         jsonb_populate_record(null::${table}, to_jsonb(t) || $2::jsonb) copy where t.${column} = $1`,
      [row.id, JSON.stringify({ [column]: id, ...changes() })],
    );
    return { ...row, id };
  };

const WORK = { directives: 'directive_id', work_packets: 'work_packet_id', approvals: 'approval_id' };

/** A directive with its approval and work packets once more; whatever names one of them names its copy. */
const copyOfWork: Copy = async ({ rows }, row) => {
  const [found] = await rows<{ directive_id: string }>(
    `select directive_id from directives where directive_id = $1
     union select directive_id from approvals where approval_id = $1`,
    [row.id],
  );
  const tables = await Promise.all(
    Object.entries(WORK).map(async ([table, column]) => ({
      table,
      column,
      rows: await rows<{ row: Record<string, string> }>(
        `select to_jsonb(t) as row from ${table} t where directive_id = $1`,
        [found!.directive_id],
      ),
    })),
  );
  const copies = new Map(
    tables.flatMap(({ column, rows: of }) =>
      of.map((one) => {
        const id = one.row[column]!;
        return [id, missing({ id, teamId: null }).id] as const;
      }),
    ),
  );
  const named = new RegExp([...copies.keys()].join('|'), 'g');
  for (const { table, rows: of } of tables) {
    const copied = JSON.stringify(of.map((one) => one.row)).replace(named, (id) => copies.get(id)!);
    await rows(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`, [
      copied,
    ]);
  }
  return { ...row, id: copies.get(row.id)! };
};

/** An order with its versions. */
const copyOfOrder: Copy = async (test, row) => {
  const copied = await copyOf('standing_orders', 'standing_order_id')(test, row);
  await test.rows(
    `insert into standing_order_versions select copy.* from standing_order_versions v,
       jsonb_populate_record(null::standing_order_versions, to_jsonb(v) || $2::jsonb) copy
     where v.standing_order_id = $1`,
    [row.id, JSON.stringify({ standing_order_id: copied.id })],
  );
  return copied;
};
const copyOfInvite = copyOf('invites', 'invite_id', () => ({ email: newAddress(), token_hash: newHash() }));
const copyOfToken = copyOf('tokens', 'token_id', () => ({ token_hash: newHash() }));
const copyOfDestination = copyOf('webhook_destinations', 'destination_id');

/** A work packet with the document that it has filed, so that it can be undone once more. */
const copyOfPacket: Copy = async (test, row) => {
  const copied = await copyOf('work_packets', 'work_packet_id')(test, row);
  const documentId = newId('doc');
  await test.rows(
    `insert into documents select copy.* from documents d,
       jsonb_populate_record(null::documents, to_jsonb(d) || $2::jsonb) copy where d.work_packet_id = $1`,
    [row.id, JSON.stringify({ document_id: documentId, work_packet_id: copied.id })],
  );
  await test.rows(
    `update work_packets set compensation = jsonb_set(compensation, '{params,documentId}', to_jsonb($2::text))
     where work_packet_id = $1`,
    [copied.id, documentId],
  );
  return copied;
};

/** Kinds that are quicker to copy than to make; the others are made. */
const COPIES: Partial<Record<RowKind, Copy>> = {
  directive: copyOfWork,
  'failed directive': copyOfWork,
  schedule: copyOf('schedules', 'schedule_id'),
  approval: copyOfWork,
  'work packet': copyOfPacket,
  signal: copyOf('signals', 'signal_id'),
  tool: copyOf('tools', 'name'),
  'action request': copyOf('action_requests', 'action_request_id'),
  question: copyOf('approvals', 'question_id', () => ({ approval_id: newId('apr') })),
  'approval of a question': copyOf('approvals', 'approval_id', () => ({ question_id: newId('qst') })),
  escalation: copyOf('escalations', 'escalation_id', () => ({ entity_id: newId('req') })),
  'skill pack': copyOf('skill_packs', 'pack_id', () => {
    const name = newId('pck').replace('_', '-');
    return { name, name_key: name };
  }),
  'order that allows': copyOfOrder,
  'order that denies': copyOfOrder,
  'order that was paused': copyOfOrder,
  'order that only an owner activates': copyOfOrder,
  invite: copyOfInvite,
  'invite of an admin': copyOfInvite,
  'token of a viewer': copyOfToken,
  'token of an owner': copyOfToken,
  destination: copyOfDestination,
  'paused destination': copyOfDestination,
};
