import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
  Outlet,
  type RouteComponent,
} from '@tanstack/react-router';
import { searchOf } from './overview/views.js';
import { Home } from './setup/home.js';
import { Shell } from './shell.js';
import { Failure } from './ui/failure.js';

const Failed = ({ error }: { error: unknown }) => <Failure error={error as Error} />;

const root = createRootRoute({
  validateSearch: searchOf,
  component: () => (
    <Shell>
      <Outlet />
    </Shell>
  ),
  errorComponent: Failed,
  notFoundComponent: () => (
    <p className="empty">
      There is no such page. <Link to="/">Go to the inbox</Link>
    </p>
  ),
});

const page = <Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => root, path, component });

/** The pages of the set-up are loaded together. */
const setUp = (name: keyof typeof import('./setup/pages.js')) =>
  lazyRouteComponent(() => import('./setup/pages.js'), name);

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
  page('/setup', setUp('SetUp')),
  page('/people', setUp('PeoplePage')),
  page('/agents', setUp('AgentsPage')),
  page('/schedules', setUp('SchedulesPage')),
  page('/report', setUp('ReportPage')),
  page('/connections', setUp('ConnectionsPage')),
  page('/packs', setUp('PacksPage')),
  page('/settings', setUp('SettingsPage')),
  page('/tier', setUp('TierPage')),
  page('/workspaces', setUp('WorkspacesPage')),
  page('/documents', setUp('DocumentsPage')),
  page('/orders', setUp('OrdersPage')),
  page('/orders/$standingOrderId', setUp('OrderPage')),
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

export const router = createRouter({
  routeTree: routes,
  // A page that fails leaves the bar with the kill switch.
  defaultErrorComponent: Failed,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
