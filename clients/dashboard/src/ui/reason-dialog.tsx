import { Dialog } from './dialog.js';
import { Form } from './form.js';

interface Given {
  /** What it concerns, by its id: the reason that is typed is kept under this key. */
  about: string;
  title: string;
  /** What comes of it, in a sentence. */
  description: string;
  /** What the button says. */
  verb: string;
  /** A word that must be typed first. */
  word?: string;
  isReasonRequired?: boolean;
  isRepeated?: boolean;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  act: (reason: string) => PromiseLike<unknown>;
  /** Once it is done; the dialog is closed. */
  onDone: () => unknown;
}

/** Asks for the reason of something that is not taken back by a click, and for a typed word where it is grave. */
export function ReasonDialog(given: Given) {
  const { about, verb, word, isReasonRequired, isRepeated, act, onDone, ...dialog } = given;
  return (
    <Dialog {...dialog}>
      <Form
        about={about}
        verb={verb}
        isDanger
        isRepeated={isRepeated}
        act={({ reason }) => act(reason!.trim())}
        stale={[]}
        onDone={() => {
          dialog.setOpen(false);
          return onDone();
        }}
        onBack={() => dialog.setOpen(false)}
      >
        <label>
          Why
          <input name="reason" required={isReasonRequired} maxLength={500} />
        </label>
        {word && (
          <label>
            Type {word}
            <input
              name="word"
              required
              pattern={word}
              autoComplete="off"
              title={`Type ${word}`}
              data-confirm
            />
          </label>
        )}
      </Form>
    </Dialog>
  );
}
