import { lazy, Suspense, useState } from 'react';
import type { DialogGiven } from './popup.js';

const load = () => import('./popup.js');
const Popup = lazy(async () => ({ default: (await load()).Popup }));

// It is not part of the first load, and is there when it is needed: whoever stops everything must not wait for it.
setTimeout(() => void load().catch(() => undefined), 1_000);

/** A dialog over the page. */
export function Dialog(given: DialogGiven) {
  const [wasOpen, setWasOpen] = useState(given.isOpen);
  if (given.isOpen && !wasOpen) setWasOpen(true);
  if (!wasOpen) return null;
  return (
    <Suspense>
      <Popup {...given} />
    </Suspense>
  );
}
