import { createRootRoute, createRoute, createRouter, Outlet } from '@tanstack/react-router';
import { Inbox } from './inbox/inbox.js';
import { Shell } from './shell.js';
import { Failure } from './ui/failure.js';

const root = createRootRoute({
  component: () => (
    <Shell>
      <Outlet />
    </Shell>
  ),
  errorComponent: ({ error }) => <Failure error={error as Error} />,
  notFoundComponent: () => <p className="empty">There is no such page.</p>,
});

const inbox = createRoute({ getParentRoute: () => root, path: '/', component: Inbox });
const approval = createRoute({
  getParentRoute: () => root,
  path: '/approvals/$approvalId',
  component: Inbox,
});

/** Every path here is one that the service serves the page under (src/features/dashboard). */
export const router = createRouter({ routeTree: root.addChildren([inbox, approval]) });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
