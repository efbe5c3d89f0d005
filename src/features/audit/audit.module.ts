import { Module } from '@nestjs/common';
import { AuditFeedController, FeedController } from './audit.controller.js';
import { FeedService } from './feed.service.js';
import { ReceiptChains } from './receipt-chains.repository.js';
import { ReceiptLog } from './receipt-log.repository.js';
import { VerifyWorkspaceChain } from './verify-workspace-chain.js';

/** @level 2 */
@Module({
  controllers: [AuditFeedController, FeedController],
  providers: [ReceiptLog, ReceiptChains, FeedService, VerifyWorkspaceChain],
  exports: [ReceiptLog, ReceiptChains],
})
export class AuditModule {}
