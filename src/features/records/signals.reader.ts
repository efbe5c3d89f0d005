import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { type Listing, listedAt, newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { summaryOf, viewOf } from './signal.js';
import { SignalEntity } from './signal.entity.js';
import type { SignalStatus } from './signal-types.js';
import type { SignalPage, SignalsQuery, SignalView } from './signals.dto.js';

/** The text is left out of lists: a page of a hundred could be six megabytes. */
const LISTED = columnsOf(SignalEntity, { without: ['body', 'note', 'withdrawnAt'] });

/** A signal whose snooze is over is open again; `at` is the place of the time that this holds for. */
const HAS_STATUS: Record<SignalStatus, (at: string) => string> = {
  acknowledged: () => 'acknowledged_at is not null',
  open: (at) => `acknowledged_at is null and (snoozed_until is null or snoozed_until <= ${at})`,
  snoozed: (at) => `acknowledged_at is null and snoozed_until is not null and snoozed_until > ${at}`,
};

/** Signals as people read them. Row-level security narrows each statement to the teams of the caller. */
@Injectable()
export class SignalsReader {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  /** What was raised and not withdrawn, newest first; each page of a list is as of the moment of its first one. */
  async list(scope: Scope, query: SignalsQuery): Promise<SignalPage> {
    const { type, severity, status, teamId, ...paging } = query;
    const at = listedAt(query.cursor) ?? this.clock.now();
    const dependsOnTime = status === 'open' || status === 'snoozed';
    const given = where(
      { workspace_id: scope.workspaceId, type, severity, team_id: teamId },
      'withdrawn_at is null',
    );
    const place = `$${given.values.length + 1}::timestamptz`;
    const listing: Listing = {
      name: `signals ${status ?? 'all'}`,
      select: LISTED,
      from: 'signals',
      where: status === undefined ? given.where : `${given.where} and ${HAS_STATUS[status](place)}`,
      values: dependsOnTime ? [...given.values, new Date(at)] : given.values,
      order: newestFirst('signal_id'),
      at,
    };
    const page = await readPage<Omit<SignalEntity, 'body'>>(this.db, scope, listing, paging);
    return { ...page, items: page.items.map(summaryOf) };
  }

  /** @throws NotFound for one that is withdrawn or that the caller may not see */
  async get(scope: Scope, signalId: string): Promise<SignalView> {
    const { workspaceId } = scope;
    const signal = isId('sig', signalId)
      ? await this.db.findOne(scope, SignalEntity, { workspaceId, signalId })
      : undefined;
    if (!signal || signal.withdrawnAt !== null) throw new NotFound();
    return viewOf(signal);
  }
}
