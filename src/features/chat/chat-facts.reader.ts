import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { isId } from '../../platform/kernel/ids.js';
import { firstPending, soonAfter } from '../approvals/pending-approvals.js';
import { MOST_URGENT_ESCALATIONS } from '../escalations/escalations.repository.js';
import { BUYER_FACTS } from '../partner/persona.reader.js';
import { CALENDAR } from './calendar-statements.js';
import { GUARDIAN, GUARDIAN_CHANGES, guardianFrom, type StoredGuardian } from './guardian-changes.js';
import { DIRECTIVE_FACTS, ORDER_FACTS, SIGNAL_FACTS } from './record-statements.js';
import {
  type DirectiveFacts,
  type DirectivesFacts,
  type Found,
  type GuardianFacts,
  type LookUp,
  MAX_COUNTED,
  type OrderFacts,
  type OrderRecord,
  type RecordFacts,
  type SignalFacts,
  type SignalRecord,
  type Subject,
  type SumFacts,
  type WaitingFacts,
} from './look-up.js';

/** Few of each: an answer is a few sentences, not an archive. */
const FEW = 10;
/** Of standing orders: what is in force is worth a longer list. */
const MANY = 20;
const TEXT = 300;

const WAITING = /* sql */ `
select
  (select coalesce(json_agg(a), '[]') from (
    select approval_id as "approvalId", directive_id as "directiveId", title, capo, risk, ready,
      inputs_needed as "inputsNeeded", app.ms(expires_at) as "expiresAt"
    from (${firstPending(`workspace_id = $1 and status = 'pending'`, '$2', FEW)}) listed
    join approvals using (approval_id) order by listed.part, listed.requested_at, approval_id) a) as approvals,
  (select coalesce(sum(n), 0)::int from app.tally_of($1, 'approvals')
    where split_part(key, ' ', 1) in ('pending', 'ready')) as approvals_in_all,
  (select coalesce(json_agg(e), '[]') from (
    select escalation_id as "escalationId", kind, left(reason, ${TEXT}) as reason, options, app.ms(due_at) as "dueAt"
    from escalations where workspace_id = $1 and status = 'open'
    order by ${MOST_URGENT_ESCALATIONS} limit ${FEW}) e) as escalations,
  (select count(*)::int from (
    select 1 from escalations where workspace_id = $1 and status = 'open' limit ${MAX_COUNTED}) c) as escalations_in_all`;

const DIRECTIVES = /* sql */ `
select coalesce(json_agg(d), '[]') as directives from (
  select directive_id as "directiveId", left(text, 120) as title, capo, status, app.ms(created_at) as "createdAt"
  from directives where workspace_id = $1 order by created_at desc, directive_id desc limit ${FEW}) d`;

const SIGNALS = /* sql */ `
select
  (select coalesce(json_agg(s), '[]') from (
    select signal_id as "signalId", type, severity, title, left(body, ${TEXT}) as body, app.ms(created_at) as "createdAt"
    from signals where workspace_id = $1 and withdrawn_at is null and acknowledged_at is null
    order by created_at desc, signal_id desc limit ${FEW}) s) as signals,
  coalesce((select n::int from app.tally_of($1, 'signals') where key = 'open'), 0) as in_all`;

const ORDERS = /* sql */ `
select
  (select coalesce(json_agg(o), '[]') from (
    select standing_order_id as "standingOrderId", name, left(text, ${TEXT}) as text, effect, capos,
      app.ms(expires_at) as "expiresAt"
    from standing_orders where workspace_id = $1 and status = 'active'
    order by created_at desc, standing_order_id desc limit ${MANY}) o) as orders,
  (select count(*)::int from standing_orders where workspace_id = $1 and status = 'active') as in_all`;

/**
 * Exact: each period is what came since its beginning, less what came since its end. Both count what lies after a time, so they
 * begin a microsecond before theirs.
 */
const sums = (since: 'app.revenue_since' | 'app.cost_since') => /* sql */ `
with ${CALENDAR}
select (select name from zone) as timezone, (select currency from workspaces where workspace_id = $1) as currency,
  (select coalesce(json_agg(s), '[]') from (
    select period, total.currency, total.amount
    from calendar p
    cross join lateral (
      select each.currency, sum(each.amount) as amount from (
        select r.currency, r.amount from ${since}($1, p.begins - interval '1 microsecond') r
        union all
        select r.currency, -r.amount from ${since}($1, p.ends - interval '1 microsecond') r where p.ends is not null) each
      group by each.currency having sum(each.amount) <> 0) total) s) as sums`;
const REVENUE = sums('app.revenue_since');
const COST = sums('app.cost_since');

const BUYERS = `select ${BUYER_FACTS} as buyers`;

/**
 * What an answer is made of, few of each. Row-level security narrows every statement to what the member may see, so nothing
 * that a message or a model asks for can show more than the same member's own reads do.
 */
@Injectable()
export class ChatFacts {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  async find(scope: Scope, { subject, id }: LookUp): Promise<Found> {
    return { subject, id, facts: await this.factsOf(scope, subject, id) };
  }

  /** The zone of the workspace, in which times are told. */
  async timezone(scope: Scope): Promise<string> {
    const statement = 'select app.workspace_zone($1) as timezone';
    return (await this.row<{ timezone: string }>(scope, statement)).timezone;
  }

  waiting(scope: Scope): Promise<WaitingFacts> {
    return this.row(scope, WAITING, soonAfter(this.clock.now()));
  }

  signals(scope: Scope): Promise<SignalFacts> {
    return this.row(scope, SIGNALS);
  }

  orders(scope: Scope): Promise<OrderFacts> {
    return this.row(scope, ORDERS);
  }

  async guardian(scope: Scope): Promise<GuardianFacts> {
    const now = new Date(this.clock.now());
    return guardianFrom(await this.row<StoredGuardian>(scope, GUARDIAN, now, GUARDIAN_CHANGES));
  }

  directives(scope: Scope): Promise<DirectivesFacts> {
    return this.row(scope, DIRECTIVES);
  }

  revenue(scope: Scope): Promise<SumFacts> {
    return this.row(scope, REVENUE, new Date(this.clock.now()));
  }

  cost(scope: Scope): Promise<SumFacts> {
    return this.row(scope, COST, new Date(this.clock.now()));
  }

  /** Null where there is no such record, or the member may not see it. */
  async record(scope: Scope, id: string): Promise<RecordFacts | null> {
    const prefix = (['dir', 'pkt', 'apr'] as const).find((one) => isId(one, id));
    if (prefix !== undefined) {
      const directive = await this.maybeRow<DirectiveFacts>(scope, DIRECTIVE_FACTS[prefix], id);
      return directive ? { asked: id, directive } : null;
    }
    if (isId('so', id)) {
      const order = await this.maybeRow<OrderRecord>(scope, ORDER_FACTS, id);
      return order ? { asked: id, order } : null;
    }
    if (isId('sig', id)) {
      const signal = await this.maybeRow<SignalRecord>(scope, SIGNAL_FACTS, id);
      return signal ? { asked: id, signal } : null;
    }
    return null;
  }

  private factsOf(scope: Scope, subject: Subject, id: string | null): Promise<object | null> {
    switch (subject) {
      case 'waiting':
        return this.waiting(scope);
      case 'record':
        return id === null ? Promise.resolve(null) : this.record(scope, id);
      case 'directives':
        return this.directives(scope);
      case 'signals':
        return this.signals(scope);
      case 'revenue':
        return this.revenue(scope);
      case 'cost':
        return this.cost(scope);
      case 'standing_orders':
        return this.orders(scope);
      case 'guardian':
        return this.guardian(scope);
      case 'buyers':
        return this.row(scope, BUYERS);
    }
  }

  private async row<T extends object>(scope: Scope, statement: string, ...values: unknown[]): Promise<T> {
    return (await this.maybeRow<T>(scope, statement, ...values))!;
  }

  private async maybeRow<T extends object>(
    scope: Scope,
    statement: string,
    ...values: unknown[]
  ): Promise<T | undefined> {
    const [row] = await this.db.read<T>(scope, statement, [scope.workspaceId, ...values]);
    return row;
  }
}
