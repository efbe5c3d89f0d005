import { RateLimitError } from '@consigliere/sdk';
import { useMutation, type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import { keyOfTab } from '../session.js';
import { Failure } from './failure.js';
import { textsOf } from './texts-of.js';
import { tell } from './told.js';

type Texts = Record<string, string>;

interface Given<T> {
  /**
   * What the form is about, told apart by ids, since two people or packets can have one name: what is typed into it stays in the tab
   * under this key until it is sent.
   */
  about: string;
  /** What the button says. */
  verb: string;
  isDanger?: boolean | undefined;
  /** What was refused for too many requests is done again by itself, while the form is shown. */
  isRepeated?: boolean | undefined;
  act: (texts: Texts, data: FormData) => PromiseLike<T>;
  /** What is read again afterwards, by the first word of its query. */
  stale: readonly string[];
  /** What has changed, which is told once it is done; left out: that it is done. */
  says?: string | ((result: T) => string);
  onDone?: ((result: T) => unknown) | undefined;
  onBack?: () => void;
  children?: ReactNode;
}

/** A form that acts when it is sent: it says what went wrong, and keeps what was typed until it went well. */
export function Form<T>(given: Given<T>) {
  const { about, verb, isDanger, isRepeated, act, stale, onDone, onBack, children } = given;
  const { says = 'Done.' } = given;
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const key = keyOfTab(`typed:form:${about}`);
  useEffect(() => restore(form.current!, sessionStorage.getItem(key)), [key]);
  const acting = useMutation({
    mutationFn: async ({ texts, data }: { texts: Texts; data: FormData }) => act(texts, data),
    onSuccess: async (result, { texts }) => {
      // What was typed meanwhile stays.
      if (form.current && JSON.stringify(textsOf(form.current)) === JSON.stringify(texts)) {
        sessionStorage.removeItem(key);
        form.current.reset();
      }
      tell(typeof says === 'string' ? says : says(result));
      onDone?.(result);
      await Promise.all(stale.map((one) => queries.invalidateQueries({ queryKey: [one] })));
    },
  });
  useRepeat(acting, isRepeated === true);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    acting.mutate({ texts: textsOf(event.currentTarget), data: new FormData(event.currentTarget) });
  };
  return (
    <form
      ref={form}
      onSubmit={submit}
      onInput={({ currentTarget }) => sessionStorage.setItem(key, JSON.stringify(keptOf(currentTarget)))}
    >
      {children}
      {acting.error && <Failure error={acting.error} isRepeated={isRepeated} />}
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

/** What is different from what was shown: the rest is not sent, so that it stays as others have set it. */
export function changed<T extends object>(texts: Texts, shown: T): Partial<T> {
  const entries = Object.entries(shown)
    .filter(([name, value]) => texts[name] !== (value ?? ''))
    .map(([name]) => [name, texts[name] || null]);
  return Object.fromEntries(entries) as Partial<T>;
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

type Value = string | boolean;

/**
 * What was changed in the form, except for secrets and words typed to confirm. What was left alone follows the service, so that nobody
 * puts back by accident what somebody else has changed meanwhile.
 */
function keptOf(form: HTMLFormElement): Record<string, Value> {
  const kept = fieldsOf(form).flatMap((field): [string, Value][] => {
    if (field.matches('[type=password], [data-confirm]')) return [];
    if (isBox(field)) return field.checked === field.defaultChecked ? [] : [[keyOf(field), field.checked]];
    return isAsShown(field) ? [] : [[keyOf(field), field.value]];
  });
  return Object.fromEntries(kept);
}

function restore(form: HTMLFormElement, kept: string | null): void {
  if (kept === null) return;
  const values = JSON.parse(kept) as Record<string, Value>;
  for (const field of fieldsOf(form)) {
    const value = values[keyOf(field)];
    if (typeof value === 'string') field.value = value;
    else if (typeof value === 'boolean') (field as HTMLInputElement).checked = value;
    else continue;
    // Fields that depend on one another see what came back.
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
}

type NamedField = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

function fieldsOf(form: HTMLFormElement): NamedField[] {
  return [...form.querySelectorAll<NamedField>('input[name], select[name], textarea[name]')];
}

function isBox(field: NamedField): field is HTMLInputElement {
  return field.type === 'checkbox';
}

/** Boxes of one name differ in their value. */
function keyOf(field: NamedField): string {
  return isBox(field) ? `${field.name} ${field.value}` : field.name;
}

function isAsShown(field: NamedField): boolean {
  if (!(field instanceof HTMLSelectElement)) return field.value === field.defaultValue;
  const shown = [...field.options].findIndex(({ defaultSelected }) => defaultSelected);
  return field.selectedIndex === Math.max(0, shown);
}
