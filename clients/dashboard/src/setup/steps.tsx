import type { FirstSteps } from '@consigliere/sdk';
import type { ReactNode } from 'react';
import { useMe } from '../me.js';
import { FirstOrder } from './first-order.js';

/** The first steps; the service says which are done. */
export function Steps({ steps }: { steps: FirstSteps }) {
  const me = useMe();
  return (
    <ol className="rows steps" aria-label="First steps">
      <Step isDone={steps.directive} title="Hand in a directive">
        Say what should be done on the page Directives.
      </Step>
      <Step isDone={steps.approval} title="Approve a draft">
        A capo, one of the built-in assistants, drafts what you hand in. The draft waits in the inbox until a
        person approves it.
      </Step>
      <Step isDone={steps.order} title="Make a standing order">
        It decides what must always be asked, and what must never happen. <FirstOrder />
      </Step>
      <Step isDone={steps.killDrill && me?.guardian.mode !== 'killed'} title="Try the kill switch">
        Press Stop everything above and type HALT. Then end the stop on the page Safety.
      </Step>
    </ol>
  );
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: ReactNode }) {
  return (
    <li className={isDone ? 'done' : undefined}>
      <span className="title">
        {title} {isDone && <span className="quiet">done</span>}
      </span>
      {!isDone && <span>{children}</span>}
    </li>
  );
}
