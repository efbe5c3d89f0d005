import { lazy, Suspense } from 'react';
import type { DialogContent } from './dialog-popup.js';

const load = async () => ({ default: (await import('./dialog-popup.js')).DialogPopup });
const Popup = lazy(load);
// Not in the first load, and there before anybody needs to stop everything.
addEventListener('load', () => void load().catch(() => undefined));

/** A dialog over the page. */
export function Dialog(content: DialogContent) {
  return <Suspense>{content.isOpen && <Popup {...content} />}</Suspense>;
}
