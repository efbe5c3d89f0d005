import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { endHold, holdFor, waitOf } from './held.js';
import { readWhenShown } from './live.js';
import { tell } from './ui/told.js';
import { pressOnce } from './once.js';
import { router } from './router.js';
import { show } from './ui/appearance.js';
import { endsSession, lock, onSessionChange, resume, sessionNow } from './session.js';

const onError = (error: unknown) => {
  if (endsSession(error)) lock();
};

const queries = new QueryClient({
  queryCache: new QueryCache({ onError }),
  defaultOptions: {
    // The stream tells what has changed. While the service cannot be asked, what is shown stays.
    queries: {
      retry: (_failures, error) => holdFor(error),
      retryDelay: 0,
      staleTime: 60_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
    },
    // A person is told at once that something was not done.
    mutations: { retry: false, networkMode: 'always', onError },
  },
});

// Nothing that one person has read is left for the next.
onSessionChange(() => {
  if (sessionNow().state === 'open') return;
  queries.clear();
  endHold();
  tell('');
});

show();

async function begin(): Promise<void> {
  await resume().catch((error: unknown) => setTimeout(() => void begin(), waitOf(error) ?? 5_000));
}

const root = createRoot(document.querySelector('#root')!);
if (isSecureContext) {
  pressOnce();
  readWhenShown(queries);
  void begin();
  root.render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
} else {
  // Browsers keep from such a page what it cannot do without.
  root.render(
    <main className="narrow">
      <h1>Consigliere</h1>
      <p>
        The dashboard needs https, or the name localhost: docs/guides/behind-a-proxy.md says how to set https
        up.
      </p>
    </main>,
  );
}
