import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { Dialog } from './dialog.js';
import { Failure } from './failure.js';
import { KeptForm } from './kept-form.js';
import { textsOf } from './texts-of.js';

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
  const { setOpen } = dialog;
  const acting = useMutation({
    mutationFn: async (reason: string) => act(reason),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    acting.mutate(textsOf(form)['reason']!.trim(), {
      onSuccess: () => {
        form.reset();
        setOpen(false);
        void onDone();
      },
    });
  };
  return (
    <Dialog {...dialog}>
      <KeptForm about={`${dialog.title} ${dialog.description}`} onSubmit={submit}>
        <label>
          Why
          <input name="reason" required={isReasonRequired} maxLength={500} />
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
      </KeptForm>
    </Dialog>
  );
}
