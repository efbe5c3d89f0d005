export {
  type ApprovalDecision,
  DELIVERY_WORK,
  EVENT_TYPES,
  type EventType,
  SUBSCRIBABLE_EVENTS,
  type SubscribableEvent,
  Events,
} from './events.js';
export { EventsModule } from './events.module.js';
