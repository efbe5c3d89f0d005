import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
} from '@tanstack/react-router';
import { searchOf } from './overview/views.js';
import { Home } from './setup/home.js';
import { Shell } from './shell.js';
import { Failure } from './ui/failure.js';

const root = createRootRoute({
  validateSearch: searchOf,
  component: () => (
    <Shell>
      <Outlet />
    </Shell>
  ),
  errorComponent: ({ error }) => <Failure error={error as Error} />,
  notFoundComponent: () => <p className="empty">There is no such page.</p>,
});

const page = <Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => root, path, component });

/**
 * Every path here is one that the service serves the page under (src/features/dashboard). The inbox is in the first load; the other
 * pages are loaded when they are opened.
 */
const routes = root.addChildren([
  page('/', Home),
  page('/approvals/$approvalId', Home),
  page(
    '/directives',
    lazyRouteComponent(() => import('./directives/directives.js'), 'Directives'),
  ),
  page(
    '/directives/$directiveId',
    lazyRouteComponent(() => import('./directives/directive-page.js'), 'DirectivePage'),
  ),
  page(
    '/account',
    lazyRouteComponent(() => import('./account/account-page.js'), 'AccountPage'),
  ),
  page(
    '/escalations',
    lazyRouteComponent(() => import('./escalations/escalations.js'), 'Escalations'),
  ),
  page(
    '/escalations/$escalationId',
    lazyRouteComponent(() => import('./escalations/escalations.js'), 'EscalationPage'),
  ),
  page(
    '/guardian',
    lazyRouteComponent(() => import('./guardian/guardian-page.js'), 'GuardianPage'),
  ),
  page(
    '/overview',
    lazyRouteComponent(() => import('./overview/overview.js'), 'Overview'),
  ),
  page(
    '/setup',
    lazyRouteComponent(() => import('./setup/setup.js'), 'SetUp'),
  ),
  page(
    '/people',
    lazyRouteComponent(() => import('./people/people-page.js'), 'PeoplePage'),
  ),
  page(
    '/agents',
    lazyRouteComponent(() => import('./agents/agents-page.js'), 'AgentsPage'),
  ),
  page(
    '/schedules',
    lazyRouteComponent(() => import('./schedules/schedules-page.js'), 'SchedulesPage'),
  ),
  page(
    '/report',
    lazyRouteComponent(() => import('./report/report-page.js'), 'ReportPage'),
  ),
  page(
    '/connections',
    lazyRouteComponent(() => import('./connections/connections-page.js'), 'ConnectionsPage'),
  ),
  page(
    '/orders',
    lazyRouteComponent(() => import('./orders/orders-page.js'), 'OrdersPage'),
  ),
  page(
    '/orders/$standingOrderId',
    lazyRouteComponent(() => import('./orders/order-page.js'), 'OrderPage'),
  ),
  page(
    '/settings/api',
    lazyRouteComponent(() => import('./settings/api-page.js'), 'ApiPage'),
  ),
  page(
    '/service',
    lazyRouteComponent(() => import('./setup/service-page.js'), 'ServicePage'),
  ),
  page(
    '/sent',
    lazyRouteComponent(() => import('./sent/sent.js'), 'Sent'),
  ),
]);

export const router = createRouter({ routeTree: routes });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
