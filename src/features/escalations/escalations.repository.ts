import { Injectable } from '@nestjs/common';
import { type Actor, SYSTEM } from '../../platform/auth/caller.js';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { type Listing, newestFirst, readPage, type SortKey, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import { cutText } from '../../platform/kernel/text.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { EscalationEntity, type EscalationKind } from './escalation.entity.js';
import type { EscalationsQuery } from './escalations.dto.js';

/** Called in the transaction that opened the escalation; what it writes commits with it or not at all. */
type EscalationListener = (escalation: EscalationEntity) => void | Promise<void>;

/** Who is told when an escalation is opened: features above register here. */
@Injectable()
export class EscalationOpened {
  readonly #listeners: EscalationListener[] = [];

  register(listener: EscalationListener): void {
    this.#listeners.push(listener);
  }

  async publish(escalation: EscalationEntity): Promise<void> {
    for (const listener of this.#listeners) await listener(escalation);
  }
}

const COLUMNS = columnsOf(EscalationEntity);
const MAX_REASON = 1_000;

/**
 * What ends or becomes worse first comes first; escalations_open is the index of this order. Nothing is due at all where
 * `least` has no other value; a cursor holds no time later than 2255.
 */
const MOST_URGENT_FIRST: SortKey[] = [
  { column: `least(due_at, timestamptz '2200-01-01 00:00:00+00')`, kind: 'time' },
  ...newestFirst('escalation_id'),
];
/** The same for the statements of others. */
export const MOST_URGENT_ESCALATIONS = MOST_URGENT_FIRST.map(
  ({ column, descending }) => `${column}${descending ? ' desc' : ''}`,
).join(', ');

/** An escalation to open. */
export interface NewEscalation {
  kind: EscalationKind;
  entity: { type: string; id: string };
  teamId: string | null;
  /** For a person, in a sentence or two; cut where it is long. */
  reason: string;
  /** Each is registered with EscalationOptions; `dismiss` always is. */
  options: readonly string[];
  /** When it ends by itself, or becomes worse; Unix milliseconds. */
  dueAt: number | null;
  directiveId?: string | null;
  /** For one that stands for many: it counts one more when it is open already. */
  counts?: boolean;
}

/** The part of an open escalation that its end needs. */
type OpenEscalation = Pick<
  EscalationEntity,
  'escalationId' | 'kind' | 'teamId' | 'directiveId' | 'entityType' | 'entityId'
>;

/** How a person decided. */
interface DecisionMade {
  status: 'resolved' | 'dismissed';
  decision: string;
  by: Actor;
  at: number;
  note: string | null;
}

@Injectable()
export class Escalations {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly opened: EscalationOpened,
  ) {}

  /**
   * Opens an escalation in the open transaction, with its receipt. One of the kind that is open about the same stays as it
   * is. Answers the id of the one that is open now.
   */
  async open(escalation: NewEscalation): Promise<string> {
    const { workspaceId } = this.db.unit.scope;
    const { kind, entity, teamId, options, dueAt, directiveId = null, counts = false } = escalation;
    const reason = cutText(escalation.reason, MAX_REASON);
    const createdAt = this.clock.now();
    const [row] = await this.db.query<EscalationEntity & { isNew: boolean }>(
      `insert into escalations as e (workspace_id, escalation_id, team_id, kind, status, entity_type, entity_id, directive_id,
         reason, options, due_at, created_at)
       values ($1, $2, $3, $4, 'open', $5, $6, $7, $8, $9, $10, $11)
       on conflict (workspace_id, kind, entity_type, entity_id) where status = 'open'
         do update set count = e.count + $12
       returning ${COLUMNS}, xmax = 0 as is_new`,
      [
        workspaceId,
        newId('esc'),
        teamId,
        kind,
        entity.type,
        entity.id,
        directiveId,
        reason,
        options,
        dueAt === null ? null : new Date(dueAt),
        new Date(createdAt),
        counts ? 1 : 0,
      ],
    );
    const { isNew, ...opened } = row!;
    if (!isNew) return opened.escalationId;
    this.receipts.append({
      ...subject(opened),
      actor: SYSTEM,
      action: 'escalation.opened',
      summary: `A person has to decide: ${reason}`,
      details: { kind, about: entity, options, dueAt },
    });
    await this.opened.publish(opened);
    return opened.escalationId;
  }

  /** The cause of an open escalation is gone. The caller knows that it is open, by a lock on what it is about. */
  resolve(escalation: OpenEscalation, because: string): void {
    const { workspaceId } = this.db.unit.scope;
    const { escalationId } = escalation;
    this.db.update(
      EscalationEntity,
      { workspaceId, escalationId, status: 'open' },
      { status: 'resolved', decidedAt: this.clock.now(), decidedBy: SYSTEM, outcome: because },
    );
    this.noteResolved(escalation, because);
  }

  /** {@link resolve} for the one about this, if one is open; one round trip. */
  async resolveAbout(
    kinds: EscalationKind | readonly EscalationKind[],
    entity: NewEscalation['entity'],
    because: string,
  ): Promise<void> {
    const resolved = await this.db.query<EscalationEntity>(
      `update escalations set status = 'resolved', decided_at = $5, decided_by = $6::jsonb, outcome = $7
       where workspace_id = $1 and kind = any($2) and entity_type = $3 and entity_id = $4 and status = 'open'
       returning ${COLUMNS}`,
      [
        this.db.unit.scope.workspaceId,
        [kinds].flat(),
        entity.type,
        entity.id,
        new Date(this.clock.now()),
        JSON.stringify(SYSTEM),
        because,
      ],
    );
    for (const escalation of resolved) this.noteResolved(escalation, because);
  }

  /** Open ones of this kind fall due at another time: `text` answers `entity_id` and `due_at` of what they are about. */
  moveDue(kind: EscalationKind, { text, values = [] }: Statement): void {
    const next = values.length + 1;
    this.db.write(
      `update escalations e set due_at = moved.due_at from (${text}) moved
       where e.workspace_id = $${next} and e.kind = $${next + 1} and e.entity_id = moved.entity_id and e.status = 'open'`,
      [...values, this.db.unit.scope.workspaceId, kind],
    );
  }

  /** How many of a kind are open in a team, counted up to `most`. */
  async countOpen(kind: EscalationKind, teamId: string | null, most: number): Promise<number> {
    const [row] = await this.db.query<{ open: number }>(
      `select count(*)::int as open from (select 1 from escalations
         where workspace_id = $1 and kind = $2 and team_id is not distinct from $3 and status = 'open' limit $4) counted`,
      [this.db.unit.scope.workspaceId, kind, teamId, most],
    );
    return row!.open;
  }

  /** The one of this kind that is open about this, if the transaction may see it. */
  async findOpen(kind: EscalationKind, entity: NewEscalation['entity']): Promise<string | undefined> {
    const [row] = await this.db.query<{ escalationId: string }>(
      `select escalation_id from escalations
       where workspace_id = $1 and kind = $2 and entity_type = $3 and entity_id = $4 and status = 'open'`,
      [this.db.unit.scope.workspaceId, kind, entity.type, entity.id],
    );
    return row?.escalationId;
  }

  find(scope: Scope, escalationId: string): Promise<EscalationEntity | undefined> {
    return this.db.findOne(scope, EscalationEntity, { workspaceId: scope.workspaceId, escalationId });
  }

  /** Those of these that are open. */
  openAmong(scope: Scope, escalationIds: readonly string[]): Promise<EscalationEntity[]> {
    return this.db.read(
      scope,
      `select ${COLUMNS} from escalations where workspace_id = $1 and escalation_id = any($2) and status = 'open'`,
      [scope.workspaceId, escalationIds],
    );
  }

  lock(workspaceId: string, escalationId: string): Promise<EscalationEntity | undefined> {
    return this.db.lockOne(EscalationEntity, { workspaceId, escalationId }, 'for update');
  }

  /** Closes a locked escalation as a person decided. */
  decide(
    { workspaceId, escalationId }: EscalationEntity,
    { by, at, ...made }: DecisionMade,
  ): Partial<EscalationEntity> {
    const change = { ...made, decidedBy: by, decidedAt: at };
    this.db.update(EscalationEntity, { workspaceId, escalationId }, change);
    return change;
  }

  /** What came of the decision, with the receipt that says who made it. */
  noteDecided(escalation: EscalationEntity, outcome: string): void {
    const { workspaceId, escalationId, kind, decision, note, decidedBy } = escalation;
    this.db.update(EscalationEntity, { workspaceId, escalationId }, { outcome });
    this.receipts.append({
      ...subject(escalation),
      actor: decidedBy!,
      action: 'escalation.decided',
      summary: outcome,
      details: { kind, decision, note, about: aboutOf(escalation) },
    });
  }

  /** What is open, the most urgent first; what is closed, newest first. */
  list(scope: Scope, { status, kind, teamId, ...paging }: EscalationsQuery): Promise<Page<EscalationEntity>> {
    const { workspaceId } = scope;
    // The status of open ones stands in the statement: a plan made for any status could not use their index.
    const given =
      status === 'open'
        ? where({ workspace_id: workspaceId, kind, team_id: teamId }, `status = 'open'`)
        : where({ workspace_id: workspaceId, status, kind, team_id: teamId });
    const listing: Listing = {
      name: `escalations ${status}`,
      select: COLUMNS,
      from: 'escalations',
      ...given,
      order: status === 'open' ? MOST_URGENT_FIRST : newestFirst('escalation_id'),
    };
    return readPage(this.db, scope, listing, paging);
  }

  private noteResolved(escalation: OpenEscalation, because: string): void {
    this.receipts.append({
      ...subject(escalation),
      actor: SYSTEM,
      action: 'escalation.resolved',
      summary: `Nobody has to decide any more: ${because}`,
      details: { kind: escalation.kind, about: aboutOf(escalation) },
    });
  }
}

function subject({ escalationId, directiveId, teamId }: OpenEscalation) {
  return { entity: { type: 'escalation', id: escalationId }, directiveId, teamId };
}

function aboutOf({ entityType, entityId }: OpenEscalation) {
  return { type: entityType, id: entityId };
}
