import { type PointerEvent, useEffect, useRef, useState } from 'react';

const HOLD_MS = 1_000;

/** For a button that a finger holds for a second; any other way of pressing it, a screen reader's too, is a click. */
export function useHold(onHeld: () => void, onClick: () => void) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const wasHeld = useRef(false);
  const [isHeld, setHeld] = useState(false);
  const stop = () => {
    clearTimeout(timer.current);
    setHeld(false);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    isHeld,
    onPointerDown: ({ pointerType }: PointerEvent) => {
      wasHeld.current = false;
      if (pointerType !== 'touch') return;
      // A second finger begins anew.
      clearTimeout(timer.current);
      setHeld(true);
      timer.current = setTimeout(() => {
        wasHeld.current = true;
        stop();
        onHeld();
      }, HOLD_MS);
    },
    onPointerUp: stop,
    onPointerCancel: stop,
    onPointerLeave: stop,
    // A long press would open the menu of the browser.
    onContextMenu: (event: { preventDefault: () => void }) => event.preventDefault(),
    onClick: () => {
      if (!wasHeld.current) onClick();
      wasHeld.current = false;
    },
  };
}
