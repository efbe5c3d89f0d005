import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog.js';
import { Form } from './form.js';

interface Button<T> {
  /** What the button says. */
  verb: string;
  /** What it concerns, for those who do not see where the button stands. */
  of: string;
  /** What comes of it, in a sentence. */
  effect: string;
  isDanger?: boolean;
  act: (texts: Record<string, string>, data: FormData) => PromiseLike<T>;
  stale: readonly string[];
  /** What has changed, which is told once it is done; left out: that it is done. */
  says?: string | ((result: T) => string);
  onDone?: (result: T) => unknown;
}

type Given<T> = Button<T> &
  (
    | { id?: never; children?: never }
    | {
        /** Of what it concerns: what is typed is kept by it, since two can have one name. */
        id: string;
        /** The fields that it asks for. */
        children: ReactNode;
      }
  );

/** A button that says in a dialog what comes of it, and asks for what it needs, before it acts. */
export function Act<T>({ of, effect, says, onDone, id, children, ...form }: Given<T>) {
  const [isOpen, setOpen] = useState(false);
  const title = `${form.verb} ${of}`;
  return (
    <>
      <button type="button" aria-label={title} onClick={() => setOpen(true)}>
        {form.verb}
      </button>
      {isOpen && (
        <Dialog title={title} description={effect} isOpen setOpen={setOpen}>
          <Form
            {...form}
            about={`${form.verb} ${id}`}
            says={says ?? `${title}: done.`}
            onDone={(result) => {
              setOpen(false);
              onDone?.(result);
            }}
            onBack={() => setOpen(false)}
          >
            {children}
          </Form>
        </Dialog>
      )}
    </>
  );
}
