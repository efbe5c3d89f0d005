export { AgentsPage } from '../agents/agents-page.js';
export { ConnectionsPage } from '../connections/connections-page.js';
export { OrderPage } from '../orders/order-page.js';
export { OrdersPage } from '../orders/orders-page.js';
export { PeoplePage } from '../people/people-page.js';
export { ReportPage } from '../report/report-page.js';
export { SchedulesPage } from '../schedules/schedules-page.js';
export { SetUp } from './setup.js';
