export { NotificationsModule } from './notifications.module.js';
export { ReportReaders } from './report-readers.js';
export { unsubscribeBlocks } from './unsubscribe.js';
