import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import type { ChainPoint } from '../../platform/receipts/verify-chain.js';
import { SecretBox, SecretUnreadable } from '../../platform/secrets/secret-box.js';
import {
  listedReceipt,
  type LoggedReceipt,
  ReceiptChains,
  type ReceiptItem,
  ReceiptLog,
} from '../audit/index.js';
import { Devices } from '../workspaces/index.js';
import { BootstrapReader } from './bootstrap.reader.js';
import { ContextReader } from './context.reader.js';
import type { HydrateBody, Hydration } from './context.dto.js';

/** CONTRACT section 1: no page is above 2 MB. */
const MAX_BYTES = 2_000_000;
/** The names of the parts, and the cursor. */
const ENVELOPE_BYTES = 1_000;

/** At the first call. */
const LATEST = 100;
/** A client may call five times an hour, so one answer holds as many as fit. */
const MOST = 1_000;
/** Receipts are large at times; so many are read at once. */
const READ_AT_ONCE = 250;

/** A receipt as it is sent, and the bytes that it takes in the answer. */
interface Listed {
  item: ReceiptItem;
  bytes: number;
}

/** Receipts in the order of the chain. */
interface Stretch {
  items: ReceiptItem[];
  /** Behind it begins what was not sent. */
  end: ChainPoint;
  more: boolean;
}

/** What is sealed stands in three parts; more behind them would be read as if it were not there. */
const WRITTEN = /^\w+\.[\w-]+\.[\w-]+$/;

/** How far a device has read the chain. */
interface Position {
  /** The last receipt behind which nothing was left out. */
  seq: number;
  /** Its hash: a chain that was restored and went on differently has another there. */
  hash: string;
  /** What the caller saw: with other teams other receipts would have been sent. */
  sight: string;
}

/** What a client needs that works offline. */
@Injectable()
export class HydrateService {
  constructor(
    private readonly bootstrap: BootstrapReader,
    private readonly context: ContextReader,
    private readonly chains: ReceiptChains,
    private readonly log: ReceiptLog,
    private readonly devices: Devices,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  /**
   * Gives a client that works offline all that it keeps: where it was before, what it missed.
   * @throws ValidationFailed for a cursor that this device was not given
   */
  async hydrate(caller: Caller, { deviceId, since }: HydrateBody): Promise<Hydration> {
    const position =
      since === undefined || since === null ? undefined : this.positionOf(caller, deviceId, since);
    const scope = scopeOf(caller);
    const sight = sightOf(caller);
    await this.devices.noteSeen(caller, deviceId, this.clock.now());
    // The head comes first: whatever changes after it has its receipt behind the cursor, so that a client may see a change
    // before its receipt, and never a receipt without its change.
    const { head, hashThere } = await this.chains.headBeside(caller.workspaceId, position?.seq ?? 0);
    const bootstrap = await this.bootstrap.read(caller);
    const context = await this.context.read(caller);
    const room = MAX_BYTES - ENVELOPE_BYTES - Buffer.byteLength(JSON.stringify([bootstrap, context]));
    const goesOn =
      position !== undefined &&
      position.sight === sight &&
      (position.seq === 0 || position.hash === hashThere);
    const { items, end, more } = goesOn
      ? await this.missedSince(scope, position.seq, head, room)
      : await this.latest(scope, head, room);
    const cursor = this.cursorOf(caller, deviceId, { ...end, sight });
    return { bootstrap, context, receipts: items, cursor, more, reset: position !== undefined && !goesOn };
  }

  /**
   * What lies behind `after`, as much of it as `room` bytes hold. Receipts are numbered without a gap and in the order of their
   * commits, under the lock of the chain's head. So once a head has been seen, everything up to it is there, however long the
   * transaction took that wrote it.
   */
  private async missedSince(scope: Scope, after: number, head: ChainPoint, room: number): Promise<Stretch> {
    const items: ReceiptItem[] = [];
    let left = room;
    for (let from = after; ; from = items.at(-1)!.seq) {
      const limit = Math.min(READ_AT_ONCE, MOST - items.length);
      const receipts = await this.log.listAfter(scope, from, head.seq, limit);
      for (const { item, bytes } of receipts.map(listed)) {
        // One alone always fits: nobody is to wait before a receipt for ever.
        if (bytes > left && items.length > 0) return cut(items);
        items.push(item);
        left -= bytes;
      }
      if (receipts.length < limit) return { items, end: head, more: false };
      if (items.length === MOST) return cut(items);
    }
  }

  /** The last ones up to the head. */
  private async latest(scope: Scope, head: ChainPoint, room: number): Promise<Stretch> {
    const receipts = await this.log.listBefore(scope, {}, head.seq + 1, LATEST);
    let left = room;
    const fitting = receipts.map(listed).filter(({ bytes }) => (left -= bytes) >= 0);
    return { items: fitting.map(({ item }) => item).toReversed(), end: head, more: false };
  }

  /** Sealed for the device that it is given to: nobody else can use it, and nobody can make one up. */
  private cursorOf(caller: Caller, deviceId: string, position: Position): string {
    return this.secrets.seal(JSON.stringify(position), purposeOf(caller, deviceId));
  }

  /** @throws ValidationFailed for one that this device was not given */
  private positionOf(caller: Caller, deviceId: string, cursor: string): Position {
    if (!WRITTEN.test(cursor)) throw notGiven();
    try {
      return JSON.parse(this.secrets.open(cursor, purposeOf(caller, deviceId))) as Position;
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      throw notGiven();
    }
  }
}

function listed(receipt: LoggedReceipt): Listed {
  const item = listedReceipt(receipt);
  return { item, bytes: Buffer.byteLength(JSON.stringify(item)) + 1 };
}

function cut(items: ReceiptItem[]): Stretch {
  const { seq, hash } = items.at(-1)!;
  return { items, end: { seq, hash }, more: true };
}

/** Which rows row-level security shows the caller, in few characters. */
function sightOf(caller: Caller): string {
  const { teamIds } = scopeOf(caller);
  return teamIds === 'all' ? teamIds : sha256([...teamIds].toSorted().join()).slice(0, 16);
}

function notGiven(): Error {
  const message = 'since must be a cursor that this device was given; leave it out to begin anew';
  return new ValidationFailed({ details: [{ path: 'since', rule: 'isCursor', message }] });
}

function purposeOf({ workspaceId, memberId }: Caller, deviceId: string): string {
  return `hydrate ${workspaceId} ${memberId} ${deviceId}`;
}
