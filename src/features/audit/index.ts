export { ReceiptEntity, ReceiptItem, ChainHead } from './audit.dto.js';
export { AuditModule } from './audit.module.js';
export { ReceiptChains } from './receipt-chains.repository.js';
export { type LoggedReceipt, ReceiptLog } from './receipt-log.repository.js';
export { listedReceipt } from './receipt-view.js';
