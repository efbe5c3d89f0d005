import { Controller, Get, Query, Req, Res, type StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiHeader } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import type { AdmittedRequest } from '../../platform/http/admitted-request.js';
import { negotiated } from '../../platform/http/negotiated.js';
import { Route } from '../../platform/http/route.js';
import { NotAcceptable, ValidationFailed } from '../../platform/kernel/errors.js';
import { BeforeQuery } from '../../platform/kernel/pages.dto.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { SigningKeys } from '../../platform/receipts/signing-keys.js';
import { CSV_HEADER, csvLine, feedItem, nextBefore } from './receipt-view.js';
import {
  AuditFeedQuery,
  AuditPage,
  type FeedFormat,
  VerifyQuery,
  ChainVerification,
  ChainHead,
  SigningKeyList,
  SentPage,
  SentQuery,
  FeedPage,
  FeedStreamQuery,
} from './audit.dto.js';
import { FeedService } from './feed.service.js';
import { ReceiptChains } from './receipt-chains.repository.js';
import { ReceiptLog } from './receipt-log.repository.js';
import { VerifyWorkspaceChain } from './verify-workspace-chain.js';

const RECEIPT = {
  receiptId: 'rcp_01khqw9ewg14azqhp5x4vkpz0a',
  seq: 1204,
  at: 1_771_401_690_000,
  actor: { type: 'member', id: 'mem_01kerpxzm0g7k7xtwmhd8ah2pd', name: 'Mira Novak', via: 'api' },
  action: 'approval.approved',
  entity: { type: 'approval', id: 'apr_01khqw6q00tp9w1md2nw5hc13a' },
  directiveId: 'dir_01khqw6q006hs686p8sr7arg9t',
  teamId: null,
  capo: 'capo_ops',
  outcome: 'success',
  summary: 'Mira Novak approved the mail to jane@acme.example.',
  details: { contentHash: '9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f' },
  guardianEpoch: 0,
  requestId: 'req_01khqw6q00wy74pjf1avkzwmgz',
  prevHash: '84fd9bac333ad79154348296204fa7f8c537a96e08983e5f73b3f5aca8e8edf7',
  hash: 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa',
} as const;

/** A receipt as JSON lines and as CSV, and a message of the stream: the forms of the feeds that no DTO describes. */
const LINES_EXAMPLE = `${JSON.stringify(RECEIPT)}\n`;
const CSV_EXAMPLE = CSV_HEADER + csvLine(RECEIPT);
const FEED_STREAM_EXAMPLE = `id: ${RECEIPT.seq}\nevent: ${RECEIPT.action}\ndata: ${JSON.stringify({
  seq: RECEIPT.seq,
  at: RECEIPT.at,
  text: RECEIPT.summary,
  actor: RECEIPT.actor,
  action: RECEIPT.action,
  entity: RECEIPT.entity,
  directiveId: RECEIPT.directiveId,
  capo: RECEIPT.capo,
  outcome: RECEIPT.outcome,
})}\n\n`;

/** In the order of our own preference, for a client that takes several alike. */
const BY_MEDIA_TYPE: Record<string, FeedFormat> = {
  'application/json': 'json',
  'application/x-ndjson': 'jsonl',
  'text/csv': 'csv',
};

@Controller(['api/pro/audit-feed', 'api/admin/audit-feed'])
export class AuditFeedController {
  constructor(
    private readonly feed: FeedService,
    private readonly verifyWorkspaceChain: VerifyWorkspaceChain,
    private readonly chains: ReceiptChains,
    private readonly keys: SigningKeys,
    private readonly log: ReceiptLog,
  ) {}

  /** Every act with its receipt, newest first: a page as JSON, a long stretch as JSON lines or CSV. */
  @Get()
  @Route({
    auth: 'member',
    replica: true,
    limit: specified('/api/pro/audit-feed'),
    returns: {
      200: { 'application/json': AuditPage, 'application/x-ndjson': LINES_EXAMPLE, 'text/csv': CSV_EXAMPLE },
    },
    errors: [NotAcceptable],
  })
  list(
    @CurrentCaller() caller: Caller,
    @Query() query: AuditFeedQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AuditPage | StreamableFile> {
    response.vary('Accept');
    return this.feed.read(caller, query, formatFor(request, response, query.format));
  }

  /** Everything that reached the outside, newest first: what it was, who or which standing order let it go, and the receipt. */
  @Get('sent')
  @Route({ auth: 'member', replica: true, returns: { 200: SentPage } })
  listSent(@CurrentCaller() caller: Caller, @Query() query: SentQuery): Promise<SentPage> {
    return this.log.listSent(scopeOf(caller), query);
  }

  /** The last receipt's number and hash, and the newest signed checkpoint. */
  @Get('head')
  @Route({ auth: 'member', returns: { 200: ChainHead } })
  async getHead(@CurrentCaller() caller: Caller): Promise<ChainHead> {
    const { head, at, checkpoint } = await this.chains.ends(caller.workspaceId);
    return { ...head, at, checkpoint };
  }

  /** Verifies the whole chain, against what was kept elsewhere too, and that no dispatch began while it was halted. */
  @Get('verify')
  @Route({ auth: 'member', returns: { 200: ChainVerification } })
  verify(
    @CurrentCaller() caller: Caller,
    @Query() { heldSeq, heldHash, heldKeyId }: VerifyQuery,
  ): Promise<ChainVerification> {
    return this.verifyWorkspaceChain.execute(caller, {
      ...(heldSeq !== undefined && heldHash !== undefined && { head: { seq: heldSeq, hash: heldHash } }),
      ...(heldKeyId !== undefined && { keyId: heldKeyId }),
    });
  }

  /** The public keys that checkpoints are verified with. */
  @Get('keys')
  @Route({ auth: 'member', returns: { 200: SigningKeyList } })
  async listKeys(): Promise<SigningKeyList> {
    const { trusted } = await this.keys.examine();
    return {
      keys: trusted.map(({ keyId, publicKey, createdAt, signedBy, signature }) => ({
        keyId,
        algorithm: 'Ed25519',
        publicKey,
        createdAt,
        signedBy,
        signature,
      })),
    };
  }
}

/**
 * The format to answer in: the one named in the query, else the best of the Accept header.
 * @throws NotAcceptable when the header takes none of ours
 */
function formatFor(request: Request, response: Response, named: FeedFormat | undefined): FeedFormat {
  return named ?? BY_MEDIA_TYPE[negotiated(request, response, Object.keys(BY_MEDIA_TYPE))]!;
}

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
