import { Injectable } from '@nestjs/common';
import { decodeTime } from 'ulid';
import { Db } from '../../platform/database/db.js';
import type { Statement } from '../../platform/database/batch.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { AuditFeedQuery } from './audit-feed.dto.js';

/** A receipt as a reader needs it: its place in the chain and the bytes that were hashed. */
export interface LoggedReceipt {
  seq: number;
  body: string;
  prevHash: string;
  hash: string;
}

/** What a reader of the log wants to see; what is left out does not narrow it. */
export type LogFilter = Omit<AuditFeedQuery, 'before' | 'limit' | 'format'>;

const EVERY_ACTION_OF = /\.\*$/;

/** Receipts have no index by id, but an id tells when it was made: only receipts of about that time are looked at. */
const NEAR_MS = 3_600_000;

/**
 * A plan that was made for any value walks the chain from its end, which is quick for what is frequent. What is rare
 * would cost the whole chain: 880 ms for ten receipts of a capo among a million, 0.3 ms by the index.
 */
const PLAN_FOR_THE_VALUES: Statement = { text: 'set local plan_cache_mode = force_custom_plan' };

/** The time itself is only compared, not looked up: the planner would sort every receipt of a long range. */
const AT = `(at + interval '0')`;

/** Reads receipts as row-level security shows them to the scope. The platform writes them with each act. */
@Injectable()
export class ReceiptLog {
  constructor(private readonly db: Db) {}

  /** The newest receipts that match, with a smaller number than `before` if that is given. */
  async listBefore(
    scope: Scope,
    filter: LogFilter,
    before: number | undefined,
    limit: number,
  ): Promise<LoggedReceipt[]> {
    const values: unknown[] = [scope.workspaceId];
    const conditions = ['workspace_id = $1'];
    // Only what is asked for stands in the statement: a condition that may be empty would keep the planner from the
    // index that serves it. The combinations are few, so each is prepared once.
    const where = (value: unknown, condition: (place: string) => string) => {
      if (value !== undefined) conditions.push(condition(`$${values.push(value)}`));
    };
    const { action, receipt } = filter;
    const made = receipt === undefined ? undefined : decodeTime(receipt.slice('rcp_'.length).toUpperCase());
    const { from = made && made - NEAR_MS, to = made && made + NEAR_MS } = filter;
    const isPrefix = action !== undefined && EVERY_ACTION_OF.test(action);
    where(before, (place) => `seq < ${place}`);
    where(filter.actor, (place) => `actor_id = ${place}`);
    where(isPrefix ? undefined : action, (place) => `action = ${place}`);
    // Not a range of texts: what lies between two of them depends on the database's collation.
    where(isPrefix ? action.slice(0, -1) : undefined, (place) => `starts_with(action, ${place})`);
    where(filter.capo, (place) => `capo = ${place}`);
    where(filter.teamId, (place) => `team_id = ${place}`);
    where(filter.entity, (place) => `entity_id = ${place}`);
    where(receipt, (place) => `receipt_id = ${place}`);
    where(
      from === undefined ? undefined : new Date(from),
      (place) => `${AT} >= ${place} and seq >= app.first_seq_from($1, ${place})`,
    );
    where(
      to === undefined ? undefined : new Date(to),
      (place) => `${AT} < ${place} and seq <= app.last_seq_to($1, ${place})`,
    );
    values.push(limit);
    const page: Statement = {
      text: `select seq, body, prev_hash, hash from receipts where ${conditions.join(' and ')}
             order by seq desc limit $${values.length}`,
      values,
    };
    const isFiltered = conditions.length > (before === undefined ? 1 : 2);
    const answers = await this.db.readAll(scope, isFiltered ? [PLAN_FOR_THE_VALUES, page] : [page]);
    return answers.at(-1) as LoggedReceipt[];
  }

  /** The receipts behind `after`, up to and with `upTo`, oldest first. */
  listAfter(scope: Scope, after: number, upTo: number, limit: number): Promise<LoggedReceipt[]> {
    return this.db.read<LoggedReceipt>(
      scope,
      `select seq, body, prev_hash, hash from receipts where workspace_id = $1 and seq > $2 and seq <= $3
       order by seq limit $4`,
      [scope.workspaceId, after, upTo, limit],
    );
  }
}
