export { NotificationsModule } from './notifications.module.js';
export { NotificationChoiceService, unsubscribeBlocks } from './notification-choice.service.js';
