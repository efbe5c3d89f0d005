import { Injectable } from '@nestjs/common';
import { type Actor, actorOf, type Caller, SYSTEM } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Db } from '../../platform/database/db.js';
import { listedAt, type Listing, newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { type Id, isId, newId } from '../../platform/kernel/ids.js';
import { cutText } from '../../platform/kernel/text.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { SignalSummary, SignalView, AcknowledgeBody, SignalPage, SignalsQuery } from './records.dto.js';
import { SignalEntity } from './records.entity.js';
import type { SignalStatus } from './signal-types.js';

const YEAR_MS = 365 * 86_400_000;

/** What the caller of `POST /ack` wants: seen and done with, or shown again later. */
interface Acknowledgement {
  by: Actor;
  at: number;
  note: string | null;
  snoozeUntil: number | null;
}

/** A snooze ends in the future, and within a year: one without an end would be an acknowledgement. */
function isSnoozeTime(until: number, now: number): boolean {
  return until > now && until <= now + YEAR_MS;
}

/**
 * The signal after the acknowledgement; undefined when it is that way already, so that asking again changes nothing.
 * The first acknowledgement stands.
 * @throws InvalidTransition when an acknowledged signal is to be snoozed
 */
function acknowledge(
  signal: SignalEntity,
  { by, at, note, snoozeUntil }: Acknowledgement,
): SignalEntity | undefined {
  if (snoozeUntil === null) {
    if (signal.acknowledgedAt !== null) return undefined;
    return { ...signal, acknowledgedAt: at, acknowledgedBy: by, note, snoozedUntil: null };
  }
  if (signal.acknowledgedAt !== null) {
    throw new InvalidTransition({
      message: 'The signal is already acknowledged, so it cannot be snoozed.',
    });
  }
  return signal.snoozedUntil === snoozeUntil ? undefined : { ...signal, note, snoozedUntil: snoozeUntil };
}

function summaryOf(signal: Omit<SignalEntity, 'body'>): SignalSummary {
  return {
    signalId: signal.signalId,
    type: signal.type,
    severity: signal.severity,
    title: signal.title,
    score: signal.score,
    source: signal.source,
    teamId: signal.teamId,
    capo: signal.capo,
    entity: signal.entity,
    createdAt: signal.createdAt,
    acknowledgedAt: signal.acknowledgedAt,
    acknowledgedBy: signal.acknowledgedBy,
    snoozedUntil: signal.snoozedUntil,
  };
}

function viewOf(signal: SignalEntity): SignalView {
  return { ...summaryOf(signal), body: signal.body };
}

const MAX_TITLE = 200;

/** A signal to raise; its title is cut where it is long, its source (else the system) is the actor of the receipt. */
export type NewSignal = Pick<SignalEntity, 'type' | 'severity' | 'title' | 'body' | 'teamId' | 'entity'> &
  Partial<Pick<SignalEntity, 'score' | 'source' | 'capo'>>;

/** The text is left out of lists: a page of a hundred could be six megabytes. */
const LISTED = columnsOf(SignalEntity, { without: ['body', 'note', 'withdrawnAt'] });

/** A signal whose snooze is over is open again; `at` is the place of the time that this holds for. */
const HAS_STATUS: Record<SignalStatus, (at: string) => string> = {
  acknowledged: () => 'acknowledged_at is not null',
  open: (at) => `acknowledged_at is null and (snoozed_until is null or snoozed_until <= ${at})`,
  snoozed: (at) => `acknowledged_at is null and snoozed_until is not null and snoozed_until > ${at}`,
};

@Injectable()
export class Signals {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** Raises a signal in the open transaction; row and receipt are written with what comes next. Answers its id. */
  raise(
    { source = SYSTEM, capo = null, score = null, ...signal }: NewSignal,
    signalId: Id<'sig'> = newId('sig'),
  ): Id<'sig'> {
    const title = cutText(signal.title, MAX_TITLE);
    this.db.insert(SignalEntity, {
      ...signal,
      ...{ title, source, capo, score },
      signalId,
      workspaceId: this.db.unit.scope.workspaceId,
      createdAt: this.clock.now(),
      acknowledgedAt: null,
      acknowledgedBy: null,
      note: null,
      snoozedUntil: null,
      withdrawnAt: null,
    });
    this.receipts.append({
      actor: source,
      action: 'signal.raised',
      entity: { type: 'signal', id: signalId },
      teamId: signal.teamId,
      capo,
      summary: `${source.name} raised a signal: ${title}`,
      details: { type: signal.type, severity: signal.severity, score, about: signal.entity },
    });
    return signalId;
  }

  /** Withdraws a signal, as the undo of `signal.raise`; false when there is nothing to withdraw. */
  async withdraw(signalId: string, by: Actor): Promise<boolean> {
    const [signal] = await this.db.query<Pick<SignalEntity, 'title' | 'teamId' | 'capo'>>(
      `update signals set withdrawn_at = $3 where workspace_id = $1 and signal_id = $2 and withdrawn_at is null
       returning title, team_id, capo`,
      [this.db.unit.scope.workspaceId, signalId, new Date(this.clock.now())],
    );
    if (!signal) return false;
    this.receipts.append({
      actor: by,
      action: 'signal.withdrawn',
      entity: { type: 'signal', id: signalId },
      teamId: signal.teamId,
      capo: signal.capo,
      summary: `${by.name} withdrew the signal: ${signal.title}`,
    });
    return true;
  }

  /**
   * What was raised and not withdrawn, newest first; each page of a list is as of the moment of its first one.
   * Row-level security narrows each statement to the teams of the caller.
   */
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

  /**
   * A person has seen a signal, or wants to see it later (CONTRACT, Signal). Asking again answers the same.
   * @throws ValidationFailed, NotFound, or InvalidTransition when an acknowledged signal is to be snoozed
   */
  async acknowledge(caller: Caller, body: AcknowledgeBody): Promise<SignalView> {
    const { signalId, note = null, snoozeUntil = null } = body;
    const at = this.clock.now();
    if (snoozeUntil !== null && !isSnoozeTime(snoozeUntil, at)) throw notASnoozeTime();
    const signal = isId('sig', signalId) ? await this.lock(signalId) : undefined;
    if (!signal) throw new NotFound();
    requireRole(caller, signal.teamId, 'operator');
    const by = actorOf(caller);
    const changed = acknowledge(signal, { by, at, note, snoozeUntil });
    if (!changed) return viewOf(signal);
    this.write(changed, by);
    return viewOf(changed);
  }

  /** Keeps the signal for this transaction; undefined for one that is withdrawn or that the caller may not see. */
  private async lock(signalId: string): Promise<SignalEntity | undefined> {
    const { workspaceId } = this.db.unit.scope;
    const signal = await this.db.lockOne(SignalEntity, { workspaceId, signalId }, 'for update');
    return signal?.withdrawnAt === null ? signal : undefined;
  }

  /** Writes what became of a locked signal, with the receipt that says who did it. */
  private write(signal: SignalEntity, by: Actor): void {
    const { workspaceId, signalId, acknowledgedAt, acknowledgedBy, note, snoozedUntil } = signal;
    this.db.update(
      SignalEntity,
      { workspaceId, signalId },
      { acknowledgedAt, acknowledgedBy, note, snoozedUntil },
    );
    const snoozed = signal.acknowledgedAt === null;
    this.receipts.append({
      actor: by,
      action: snoozed ? 'signal.snoozed' : 'signal.acknowledged',
      entity: { type: 'signal', id: signal.signalId },
      teamId: signal.teamId,
      capo: signal.capo,
      summary: `${by.name} ${snoozed ? 'snoozed' : 'acknowledged'} the signal: ${signal.title}`,
      details: { note: signal.note, snoozedUntil: signal.snoozedUntil },
    });
  }
}

function notASnoozeTime() {
  const message = 'snoozeUntil must be a time in the future, at most one year ahead';
  return new ValidationFailed({ details: [{ path: 'snoozeUntil', rule: 'isSnoozeTime', message }] });
}
