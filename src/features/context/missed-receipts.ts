import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { ChainPoint } from '../../platform/receipts/verify-chain.js';
import { type LoggedReceipt, type ReceiptItem, ReceiptLog, listedReceipt } from '../audit/index.js';

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
export interface Stretch {
  items: ReceiptItem[];
  /** Behind it begins what was not sent. */
  end: ChainPoint;
  more: boolean;
}

/**
 * Receipts are numbered without a gap and in the order of their commits, under the lock of the chain's head. So once a head
 * has been seen, everything up to it is there, however long the transaction took that wrote it.
 */
@Injectable()
export class MissedReceipts {
  constructor(private readonly log: ReceiptLog) {}

  /** What lies behind `after`, as much of it as `room` bytes hold. */
  async since(scope: Scope, after: number, head: ChainPoint, room: number): Promise<Stretch> {
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
  async latest(scope: Scope, head: ChainPoint, room: number): Promise<Stretch> {
    const receipts = await this.log.listBefore(scope, {}, head.seq + 1, LATEST);
    let left = room;
    const fitting = receipts.map(listed).filter(({ bytes }) => (left -= bytes) >= 0);
    return { items: fitting.map(({ item }) => item).toReversed(), end: head, more: false };
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
