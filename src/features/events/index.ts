export {
  type ApprovalDecision,
  DELIVERY_WORK,
  EVENT_TYPES,
  type EventType,
  SUBSCRIBABLE_EVENTS,
  type SubscribableEvent,
} from './event.js';
export { EventsModule } from './events.module.js';
export { Events } from './events.js';
