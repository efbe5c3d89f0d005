import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { PinoLogger } from 'nestjs-pino';
import { actorOf, type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { refreshed, type Standing, standingOf } from '../../platform/auth/membership.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { Forbidden } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import type { KeyRecord } from '../../platform/receipts/key-chain.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SigningKeys } from '../../platform/receipts/signing-keys.js';
import { EXPORT_FORMAT, endText, ExportLines, type Manifest } from './export-format.js';
import { type ExportPlan, ExportReader } from './export.reader.js';
import { Exports } from './tenancy.repository.js';
import { Snapshots } from './snapshots.js';
import { ExportRunning } from './tenancy.errors.js';

/** An export holds the one lock for exports, and old rows of the whole database, for as long as it runs. */
const LONGEST_MS = 30 * 60_000;

/** What a reader may keep it waiting before it is asked how much they have taken meanwhile. */
const PATIENCE_MS = 60_000;
/** Half a megabit a second. */
const LEAST_BYTES_PER_MS = 64;

/** The reader is too slow, or the export too long. */
export class ExportOverdue extends Error {}

/** How fast an export is taken. Only the time counts in which it waits for its reader, and the end that each has. */
export class ExportPace {
  #waited = 0;
  #bytes = 0;

  /** @param startedAt Unix milliseconds, as all times here */
  constructor(private readonly startedAt: number) {}

  /** @throws ExportOverdue */
  taken(bytes: number, handedAt: number, takenAt: number): void {
    this.#bytes += bytes;
    this.#waited += takenAt - handedAt;
    if (takenAt - this.startedAt > LONGEST_MS)
      throw new ExportOverdue('the export took longer than 30 minutes');
    if (this.#waited > PATIENCE_MS + this.#bytes / LEAST_BYTES_PER_MS) {
      throw new ExportOverdue('the reader took less than 64 kB a second');
    }
  }
}

/** How often it is asked, while an export runs, whether its reader is still signed in, as an owner. */
const ASK_EVERY_MS = 1_000;

/**
 * Streams everything of a workspace as it stood at one moment, as fast as its reader takes it and in memory that does not grow
 * with it. That it was begun has a receipt before the first byte leaves; that it was read to its end has one with the digest.
 */
@Injectable()
export class ExportWorkspace {
  constructor(
    private readonly db: Db,
    private readonly snapshots: Snapshots,
    private readonly exports: Exports,
    private readonly keys: SigningKeys,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly logger: PinoLogger,
  ) {}

  /** @throws ExportRunning, Unavailable; once the answer has begun it is cut instead */
  async execute(caller: Caller, response: Response): Promise<void> {
    const snapshot = await this.snapshots.open();
    if (!snapshot) throw new ExportRunning();
    try {
      const exportId = await this.begin(caller);
      await snapshot.begin(caller.workspaceId);
      const reader = new ExportReader(snapshot, caller.workspaceId);
      const plan = await reader.plan();
      const manifest = await this.manifest({ exportId, workspaceId: caller.workspaceId }, reader, plan);
      const lines = new ExportLines();
      response.status(200).set({
        'Content-Type': 'application/x-ndjson; charset=utf-8',
        'Content-Disposition': `attachment; filename="${fileName(manifest)}"`,
        'Cache-Control': 'no-store, no-transform',
        'X-Accel-Buffering': 'no',
      });
      const pieces = Readable.from(this.pieces(caller, manifest, plan, reader, lines), { objectMode: false });
      const { signal } = snapshot;
      await pipeline(pieces, response, { signal }).catch((error: unknown) => {
        // Of a signal the pipeline may say only that the answer was closed.
        this.logEnd(exportId, signal.aborted ? signal.reason : error);
      });
    } finally {
      await snapshot.close();
    }
  }

  private logEnd(exportId: string, err: unknown): void {
    if (isOfReader(err)) {
      this.logger.warn({ err, exportId }, 'an export was broken off before its reader had all of it');
    } else this.logger.error({ err, exportId }, 'an export failed');
  }

  /** Recorded before anything is read: one that is broken off leaves this behind. */
  private async begin(caller: Caller): Promise<string> {
    const exportId = newId('exp');
    const askedBy = actorOf(caller);
    await this.db.transaction(scopeOf(caller), async () => {
      this.exports.begin({ exportId, workspaceId: caller.workspaceId, askedBy, startedAt: this.clock.now() });
      this.receipts.append({
        actor: askedBy,
        action: 'workspace.export_started',
        entity: { type: 'export', id: exportId },
        summary: `${caller.name} began to export the workspace.`,
      });
    });
    return exportId;
  }

  private async manifest(
    { exportId, workspaceId }: Pick<Manifest, 'exportId' | 'workspaceId'>,
    reader: ExportReader,
    { tables, leftOut }: ExportPlan,
  ): Promise<Manifest> {
    const { name, seq, hash } = await reader.head();
    const { trusted } = await this.keys.examine();
    return {
      format: EXPORT_FORMAT,
      exportId,
      workspaceId,
      workspaceName: name,
      at: this.clock.now(),
      receiptHead: { seq, hash },
      signingKeys: trusted.map(publicPart),
      tables: tables.map((table) => table.name),
      leftOut,
    };
  }

  private async *pieces(
    caller: Caller,
    manifest: Manifest,
    { tables }: ExportPlan,
    reader: ExportReader,
    lines: ExportLines,
  ): AsyncGenerator<string> {
    yield lines.manifest(manifest);
    const checked = new StillAdmitted(this.clock, () => this.assertAdmitted(caller));
    for (const table of tables) yield* checked.while(reader.records(table, lines));
    yield* checked.while(reader.chain(lines));
    const { counts, sha256 } = lines;
    const { keyId, signature } = await this.keys.sign(endText(manifest, { counts, sha256 }));
    yield lines.end({ counts, sha256, keyId, signature });
    // The last line was taken. The answer ends behind this: who has seen its end finds the export recorded.
    await this.complete(caller, manifest, lines);
  }

  /** @throws Unauthorized once the session has ended, Forbidden for who is no owner any more */
  private async assertAdmitted(caller: Caller): Promise<void> {
    const [standings] = await this.db.readAll(scopeOf(caller), [standingOf(caller)]);
    const { role } = refreshed(caller, (standings as Standing[])[0]);
    if (!hasRole(role, 'owner')) throw new Forbidden();
  }

  private async complete(caller: Caller, manifest: Manifest, lines: ExportLines): Promise<void> {
    const { exportId, workspaceId, receiptHead } = manifest;
    const { n, bytes, counts, digest } = lines;
    await this.db.transaction(scopeOf(caller), async () => {
      this.exports.complete(workspaceId, exportId, {
        completedAt: this.clock.now(),
        sha256: digest!,
        lines: n,
        bytes,
        headSeq: receiptHead.seq,
        headHash: receiptHead.hash,
      });
      this.receipts.append({
        actor: actorOf(caller),
        action: 'workspace.exported',
        entity: { type: 'export', id: exportId },
        summary: `${caller.name} exported the workspace: ${n.toLocaleString('en')} lines up to receipt ${receiptHead.seq}.`,
        details: { sha256: digest, lines: n, bytes, receiptHead, counts },
      });
    });
  }
}

/** Asks now and then, while something is sent, whether it may still be, and ends with a reader who is too slow. */
class StillAdmitted {
  #askAt = 0;
  readonly #pace: ExportPace;

  constructor(
    private readonly clock: Clock,
    private readonly ask: () => Promise<void>,
  ) {
    this.#pace = new ExportPace(clock.now());
  }

  async *while(pieces: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const piece of pieces) {
      if (performance.now() >= this.#askAt) {
        await this.ask();
        this.#askAt = performance.now() + ASK_EVERY_MS;
      }
      const handedAt = this.clock.now();
      yield piece;
      this.#pace.taken(Buffer.byteLength(piece), handedAt, this.clock.now());
    }
  }
}

/** What PostgreSQL answers to a transaction that waited for its next statement for too long. */
const IDLE_IN_TRANSACTION = '25P03';

/** Whether the reader is why an export ended: they left, were too slow, or may not have it any more. */
function isOfReader(error: unknown): boolean {
  if (error instanceof DomainError) return error.status < 500;
  if (error instanceof ExportOverdue) return true;
  const { code } = error as { code?: string };
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === IDLE_IN_TRANSACTION;
}

function fileName({ at, exportId }: Manifest): string {
  return `workspace-${new Date(at).toISOString().slice(0, 10)}-${exportId.slice(-6)}.jsonl`;
}

function publicPart({ keyId, publicKey, createdAt, signedBy, signature }: KeyRecord): KeyRecord {
  return { keyId, publicKey, createdAt, signedBy, signature };
}
