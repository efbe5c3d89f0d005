import { Module } from '@nestjs/common';
import { AuditFeedController } from './audit-feed.controller.js';
import { FeedController } from './feed.controller.js';
import { FeedStreams } from './feed-streams.js';
import { ReadAuditFeed } from './read-audit-feed.js';
import { ReceiptChains } from './receipt-chains.repository.js';
import { ReceiptLog } from './receipt-log.repository.js';
import { SentReader } from './sent.reader.js';
import { VerifyWorkspaceChain } from './verify-workspace-chain.js';

/** @level 2 */
@Module({
  controllers: [AuditFeedController, FeedController],
  providers: [ReceiptLog, ReceiptChains, ReadAuditFeed, VerifyWorkspaceChain, FeedStreams, SentReader],
  exports: [ReceiptLog, ReceiptChains],
})
export class AuditModule {}
