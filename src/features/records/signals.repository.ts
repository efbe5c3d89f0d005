import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { cutText } from '../../platform/kernel/text.js';
import { type Id, newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SignalEntity } from './signal.entity.js';

const MAX_TITLE = 200;

/** A signal to raise; its title is cut where it is long, its source is the actor of the receipt. */
export type NewSignal = Pick<
  SignalEntity,
  'type' | 'severity' | 'title' | 'body' | 'score' | 'source' | 'teamId' | 'capo' | 'entity'
>;

@Injectable()
export class Signals {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** Raises a signal in the open transaction; row and receipt are written with what comes next. Answers its id. */
  raise(signal: NewSignal, signalId: Id<'sig'> = newId('sig')): Id<'sig'> {
    const title = cutText(signal.title, MAX_TITLE);
    this.db.insert(SignalEntity, {
      ...signal,
      title,
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
      actor: signal.source,
      action: 'signal.raised',
      entity: { type: 'signal', id: signalId },
      teamId: signal.teamId,
      capo: signal.capo,
      summary: `${signal.source.name} raised a signal: ${title}`,
      details: { type: signal.type, severity: signal.severity, score: signal.score, about: signal.entity },
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

  /** Keeps the signal for this transaction; undefined for one that is withdrawn or that the caller may not see. */
  async lock(signalId: string): Promise<SignalEntity | undefined> {
    const { workspaceId } = this.db.unit.scope;
    const signal = await this.db.lockOne(SignalEntity, { workspaceId, signalId }, 'for update');
    return signal?.withdrawnAt === null ? signal : undefined;
  }

  /** Writes what became of a locked signal, with the receipt that says who did it. */
  acknowledge(signal: SignalEntity, by: Actor): void {
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
