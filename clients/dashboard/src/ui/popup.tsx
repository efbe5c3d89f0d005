import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

/** What a dialog shows, and whether it is open. */
export interface DialogGiven {
  title: string;
  /** What it is about, in a sentence. */
  description: string;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  children: ReactNode;
}

/** A dialog over the page. Base UI keeps the focus in it, and gives it back. */
export function Popup({ title, description, isOpen, setOpen, children }: DialogGiven) {
  return (
    <Base.Root open={isOpen} onOpenChange={setOpen}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup className="dialog">
          <Base.Title>{title}</Base.Title>
          <Base.Description>{description}</Base.Description>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
