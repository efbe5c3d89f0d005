export { ReceiptEntity, ReceiptItem } from './audit-feed.dto.js';
export { AuditModule } from './audit.module.js';
export { ChainHead } from './receipt-chain.dto.js';
export { ReceiptChains } from './receipt-chains.repository.js';
export { type LoggedReceipt, ReceiptLog } from './receipt-log.repository.js';
export { listedReceipt } from './receipt-view.js';
