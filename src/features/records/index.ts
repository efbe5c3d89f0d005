export { Documents } from './documents.repository.js';
export { RecordsModule } from './records.module.js';
export { RevenueEvents } from './revenue-events.repository.js';
export type { SignalSeverity } from './signal-types.js';
export { SignalView } from './records.dto.js';
export { Signals } from './signals.repository.js';
