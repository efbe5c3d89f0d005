export { UNCHECKED, assertMayAsk, decidedActionOf } from './action-request.js';
export { ActionRequestsModule } from './action-requests.module.js';
