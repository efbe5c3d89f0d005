import { RateLimitError } from '@consigliere/sdk';
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef } from 'react';
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
  /** While the dialog is open, what was refused for too many requests is done again as soon as it may be. */
  isRepeated?: boolean;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  act: (reason: string) => PromiseLike<unknown>;
  /** Once it is done; the dialog is closed. */
  onDone: () => unknown;
}

/** Asks for the reason of something that is not taken back by a click, and for a typed word where it is grave. */
export function ReasonDialog({ verb, word, isReasonRequired, isRepeated, act, onDone, ...dialog }: Given) {
  const { isOpen, setOpen } = dialog;
  const form = useRef<HTMLFormElement>(null);
  const acting = useMutation({
    mutationFn: async (reason: string) => act(reason),
    onSuccess: () => {
      form.current?.reset();
      setOpen(false);
      void onDone();
    },
  });
  useRepeat(acting, isRepeated === true && isOpen);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    form.current = event.currentTarget;
    acting.mutate(textsOf(form.current)['reason']!.trim());
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
        {acting.error && <Failure error={acting.error} isRepeated={isRepeated} />}
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

/** Does again what was refused for too many requests, when the service says that it may come. */
export function useRepeat<T>(
  { error, mutate, variables }: UseMutationResult<unknown, Error, T>,
  isOn: boolean,
): void {
  useEffect(() => {
    if (!isOn || !(error instanceof RateLimitError)) return undefined;
    const timer = setTimeout(() => mutate(variables as T), (error.retryAfter ?? 60) * 1_000);
    return () => clearTimeout(timer);
  }, [error, isOn, mutate, variables]);
}
