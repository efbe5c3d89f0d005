import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, useRef } from 'react';

export interface DialogContent {
  title: string;
  /** What it is about, in a sentence. */
  description: string;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  children: ReactNode;
}

/** A dialog over the page. Base UI keeps the focus in it, and gives it back. */
export function DialogPopup({ title, description, isOpen, setOpen, children }: DialogContent) {
  const popup = useRef<HTMLDivElement>(null);
  /** The first field where it is in view; a dialog that is longer opens at its top. */
  const firstInView = () => {
    const { current } = popup;
    const field = current?.querySelector('input, select, textarea');
    const isBelow = field && field.getBoundingClientRect().bottom > current!.getBoundingClientRect().bottom;
    return isBelow ? current : true;
  };
  return (
    <Base.Root open={isOpen} onOpenChange={setOpen}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup ref={popup} className="dialog" initialFocus={firstInView}>
          <Base.Title>{title}</Base.Title>
          <Base.Description>{description}</Base.Description>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
