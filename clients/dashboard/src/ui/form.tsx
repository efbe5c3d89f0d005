import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import { Failure } from './failure.js';
import { textsOf } from './texts-of.js';

type Texts = Record<string, string>;

interface Given<T> {
  /** What the form is about: what is typed into it stays in the tab under this name until it is sent. */
  about: string;
  /** What the button says. */
  verb: string;
  isDanger?: boolean;
  act: (texts: Texts, data: FormData) => PromiseLike<T>;
  /** What is read again afterwards, by the first word of its query. */
  stale: readonly string[];
  onDone?: (result: T) => unknown;
  onBack?: () => void;
  children?: ReactNode;
}

/** A form that acts when it is sent: it says what went wrong, and keeps what was typed until it went well. */
export function Form<T>({ about, verb, isDanger, act, stale, onDone, onBack, children }: Given<T>) {
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const key = `typed:form:${about}`;
  useEffect(() => restore(form.current!, sessionStorage.getItem(key)), [key]);
  const acting = useMutation({
    mutationFn: async (data: FormData) => act(textsOf(form.current!), data),
    onSuccess: async (result) => {
      sessionStorage.removeItem(key);
      form.current?.reset();
      onDone?.(result);
      await Promise.all(stale.map((one) => queries.invalidateQueries({ queryKey: [one] })));
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    acting.mutate(new FormData(event.currentTarget));
  };
  return (
    <form
      ref={form}
      onSubmit={submit}
      onInput={({ currentTarget }) => sessionStorage.setItem(key, JSON.stringify(keptOf(currentTarget)))}
    >
      {children}
      {acting.error && <Failure error={acting.error} />}
      <div className="row">
        <button type="submit" className={isDanger ? 'danger' : 'primary'} disabled={acting.isPending}>
          {verb}
        </button>
        {onBack && (
          <button type="button" onClick={onBack}>
            Back
          </button>
        )}
      </div>
    </form>
  );
}

/** A field with its name above it. */
export function Field({ label, hint, children }: { label: string; hint?: string; children: ReactNode }) {
  return (
    <label>
      {label} {hint && <span className="quiet">{hint}</span>}
      {children}
    </label>
  );
}

/** Everything that stands in the form, except for secrets. */
function keptOf(form: HTMLFormElement): [string, FormDataEntryValue][] {
  const secrets = new Set(
    [...form.querySelectorAll<HTMLInputElement>('input[type=password]')].map(({ name }) => name),
  );
  return [...new FormData(form)].filter(([name]) => !secrets.has(name));
}

function restore(form: HTMLFormElement, kept: string | null): void {
  if (kept === null) return;
  const entries = JSON.parse(kept) as [string, string][];
  for (const field of form.elements) {
    if (field instanceof HTMLInputElement && field.type === 'checkbox') {
      field.checked = entries.some(([name, value]) => name === field.name && value === field.value);
    } else if (
      field instanceof HTMLInputElement ||
      field instanceof HTMLSelectElement ||
      field instanceof HTMLTextAreaElement
    ) {
      field.value = entries.find(([name]) => name === field.name)?.[1] ?? field.value;
    }
  }
}
