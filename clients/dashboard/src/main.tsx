import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { router } from './router.js';
import { show } from './ui/appearance.js';
import { endsSession, lock, onSessionChange, resume, sessionNow } from './session.js';

const onError = (error: unknown) => {
  if (endsSession(error)) lock();
};

const queries = new QueryClient({
  queryCache: new QueryCache({ onError }),
  defaultOptions: {
    // The client tries again by itself, and the stream tells what has changed.
    queries: { retry: false, staleTime: 60_000, refetchOnWindowFocus: false },
    mutations: { retry: false, onError },
  },
});

// Nothing that one person has read is left for the next.
onSessionChange(() => {
  if (sessionNow().state !== 'open') queries.clear();
});

show();
await resume().catch(() => undefined);

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
