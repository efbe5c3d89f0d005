import { type RefObject, useEffect, useRef } from 'react';

/**
 * Brings the heading of what is shown only once into view, with the focus: what made it may stand far down the page.
 * @param shown another one brings it into view again
 */
export function useFocusOnce(shown: string): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // A dialog gives the focus back when it closes.
    const timer = setInterval(() => {
      if (document.querySelector('[role=dialog]')) return;
      clearInterval(timer);
      heading.current?.focus();
    }, 50);
    return () => clearInterval(timer);
  }, [shown]);
  return heading;
}
