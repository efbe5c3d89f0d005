import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { Inbox } from '../inbox/inbox.js';
import { mayAct, useMe } from '../me.js';

const FirstRun = lazy(async () => ({ default: (await import('./first-run.js')).FirstRun }));

/** The inbox, and above it what an admin of a new workspace has yet to do. */
export function Home() {
  const { approvalId } = useParams({ strict: false });
  const me = useMe();
  const [isClosed, setClosed] = useState(false);
  const key = `first-run:${me?.workspace.workspaceId}`;
  const isWanted = !approvalId && !isClosed && mayAct(me, 'admin') && localStorage.getItem(key) === null;
  const close = () => {
    localStorage.setItem(key, 'closed');
    setClosed(true);
  };
  return (
    <>
      {isWanted && (
        <Suspense>
          <FirstRun close={close} />
        </Suspense>
      )}
      <Inbox />
    </>
  );
}
