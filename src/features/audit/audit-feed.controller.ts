import { Controller, Get, Query, Req, Res, type StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { negotiated } from '../../platform/http/negotiated.js';
import { Route } from '../../platform/http/route.js';
import { NotAcceptable } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { SigningKeys } from '../../platform/receipts/signing-keys.js';
import { AuditFeedQuery, AuditPage, type FeedFormat, VerifyQuery } from './audit-feed.dto.js';
import { ChainVerification } from './chain-verification.dto.js';
import { ChainHead, SigningKeyList } from './receipt-chain.dto.js';
import { CSV_EXAMPLE, LINES_EXAMPLE } from './feed-examples.js';
import { FeedService } from './feed.service.js';
import { ReceiptChains } from './receipt-chains.repository.js';
import { SentPage, SentQuery } from './sent.dto.js';
import { ReceiptLog } from './receipt-log.repository.js';
import { VerifyWorkspaceChain } from './verify-workspace-chain.js';

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
