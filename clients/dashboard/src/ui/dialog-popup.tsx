import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

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
