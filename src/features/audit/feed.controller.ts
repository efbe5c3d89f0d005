import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import type { AdmittedRequest } from '../../platform/http/admitted-request.js';
import { Route } from '../../platform/http/route.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { BeforeQuery } from '../../platform/kernel/pages.dto.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { FEED_STREAM_EXAMPLE } from './feed-examples.js';
import { FeedPage, FeedStreamQuery } from './feed.dto.js';
import { FeedService } from './feed.service.js';
import { ReceiptLog } from './receipt-log.repository.js';
import { feedItem, nextBefore } from './receipt-view.js';

@Controller('api/pro/feed')
export class FeedController {
  constructor(
    private readonly log: ReceiptLog,
    private readonly feed: FeedService,
  ) {}

  /** What happened, newest first, in a person's words. */
  @Get()
  @Route({ auth: 'member', replica: true, limit: specified('/api/pro/feed'), returns: { 200: FeedPage } })
  async list(@CurrentCaller() caller: Caller, @Query() { before, limit }: BeforeQuery): Promise<FeedPage> {
    const receipts = await this.log.listBefore(scopeOf(caller), {}, before, limit);
    return { items: receipts.map(feedItem), nextBefore: nextBefore(receipts, limit) };
  }

  /** The same as it happens: server-sent events, whose ids are the numbers to resume from. */
  @Get('stream')
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'The number of the last receipt you have, as browsers send it when they come back.',
    schema: { type: 'string', pattern: '^[0-9]{1,15}$', example: '1203' },
  })
  @Route({ auth: 'member', returns: { 200: { 'text/event-stream': FEED_STREAM_EXAMPLE } } })
  stream(
    @Req() request: AdmittedRequest,
    @Res() response: Response,
    @Query() query: FeedStreamQuery,
  ): Promise<void> {
    return this.feed.open(request, response, lastEventId(request) ?? query.lastEventId);
  }
}

/** Browsers send it when they come back; the query stays what it was, so the header goes first. */
function lastEventId(request: AdmittedRequest): number | undefined {
  const header = request.headers['last-event-id'];
  if (header === undefined || header === '') return undefined;
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header);
  const message = 'Last-Event-ID must be the number of a receipt';
  throw new ValidationFailed({ details: [{ path: 'Last-Event-ID', rule: 'isInt', message }] });
}
