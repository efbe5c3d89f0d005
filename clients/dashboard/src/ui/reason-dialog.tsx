import { useMutation } from '@tanstack/react-query';
import { Dialog } from './dialog.js';
import { Failure } from './failure.js';
import { useTyped } from './typed.js';

interface Given {
  title: string;
  /** What comes of it, in a sentence. */
  description: string;
  /** What the button says. */
  verb: string;
  /** A word that must be typed first. */
  word?: string;
  isReasonRequired?: boolean;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  act: (reason: string) => PromiseLike<unknown>;
  /** Once it is done; the dialog is closed. */
  onDone: () => unknown;
}

/** Asks for the reason of something that is not taken back by a click, and for a typed word where it is grave. */
export function ReasonDialog({ verb, word, isReasonRequired, act, onDone, ...dialog }: Given) {
  const { setOpen, title, description } = dialog;
  const { typed, type, forget } = useTyped(`${title}: ${description}`);
  const reason = typed['reason'] ?? '';
  const acting = useMutation({
    mutationFn: async () => act(reason.trim()),
    onSuccess: () => {
      forget();
      setOpen(false);
      return onDone();
    },
  });
  return (
    <Dialog {...dialog}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          acting.mutate();
        }}
      >
        <label>
          Why
          <input
            value={reason}
            onChange={({ target }) => type('reason', target.value)}
            required={isReasonRequired}
            maxLength={500}
          />
        </label>
        {word && (
          <label>
            Type {word}
            <input name="word" required pattern={word} autoComplete="off" title={`Type ${word}`} />
          </label>
        )}
        {acting.error && <Failure error={acting.error} />}
        <div className="row">
          <button type="submit" className="danger" disabled={acting.isPending}>
            {verb}
          </button>
          <button type="button" onClick={() => setOpen(false)}>
            Back
          </button>
        </div>
      </form>
    </Dialog>
  );
}
