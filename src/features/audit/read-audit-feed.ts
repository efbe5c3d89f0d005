import { Readable } from 'node:stream';
import { Injectable, StreamableFile } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { type AuditFeedQuery, type AuditPage, type FeedFormat, MAX_PAGE } from './audit-feed.dto.js';
import { CSV_HEADER, csvLine } from './receipt-csv.js';
import { type LoggedReceipt, ReceiptLog } from './receipt-log.repository.js';
import { listedReceipt, nextBefore, receiptItem } from './receipt-view.js';

/** What an export holds in memory at a time, a few hundred kilobytes. */
const ROWS_AT_ONCE = 500;

/** Answers a page of the audit feed, or a long stretch of it as lines. */
@Injectable()
export class ReadAuditFeed {
  constructor(private readonly log: ReceiptLog) {}

  execute(caller: Caller, query: AuditFeedQuery, format: FeedFormat): Promise<AuditPage | StreamableFile> {
    const scope = scopeOf(caller);
    return format === 'json' ? this.page(scope, query) : this.lines(scope, query, format);
  }

  private async page(scope: Scope, query: AuditFeedQuery): Promise<AuditPage> {
    const { limit = 20 } = query;
    if (limit > MAX_PAGE) {
      const message = `limit must not be greater than ${MAX_PAGE} as json; jsonl and csv allow more`;
      throw new ValidationFailed({ details: [{ path: 'limit', rule: 'max', message }] });
    }
    const receipts = await this.log.listBefore(scope, query, query.before, limit);
    return { items: receipts.map(listedReceipt), nextBefore: nextBefore(receipts, limit) };
  }

  /** The first rows are read before the answer begins, so that what fails at once is still an error and not a stump. */
  private async lines(scope: Scope, query: AuditFeedQuery, format: 'jsonl' | 'csv'): Promise<StreamableFile> {
    const { limit = 10_000 } = query;
    const first = await this.log.listBefore(scope, query, query.before, Math.min(limit, ROWS_AT_ONCE));
    const chunks = this.chunks(first, scope, query, limit, format);
    return new StreamableFile(Readable.from(chunks, { objectMode: false, highWaterMark: 64 * 1024 }), {
      type:
        format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8',
      disposition: `attachment; filename="audit-feed.${format}"`,
    });
  }

  private async *chunks(
    first: LoggedReceipt[],
    scope: Scope,
    query: AuditFeedQuery,
    limit: number,
    format: 'jsonl' | 'csv',
  ): AsyncGenerator<string> {
    const line =
      format === 'csv' ? csvLine : (item: ReturnType<typeof receiptItem>) => `${JSON.stringify(item)}\n`;
    if (format === 'csv') yield CSV_HEADER;
    let rows = first;
    for (let left = limit; rows.length > 0;) {
      yield rows.map((row) => line(receiptItem(row))).join('');
      left -= rows.length;
      if (left === 0 || rows.length < ROWS_AT_ONCE) return;
      rows = await this.log.listBefore(scope, query, rows.at(-1)!.seq, Math.min(left, ROWS_AT_ONCE));
    }
  }
}
