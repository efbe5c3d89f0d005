import { type ComponentProps, useLayoutEffect, useRef } from 'react';
import { useTyped } from './typed.js';

/** All but passwords, codes, and words typed to confirm. */
const KEPT = 'input:not([type=password], [autocomplete=off], [autocomplete=one-time-code])';

/** A form whose fields come back as they were after a reload and after a lock, until it is reset. */
export function KeptForm({ about, ...form }: ComponentProps<'form'> & { about: string }) {
  const { typed, type, forget } = useTyped(about);
  const element = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    for (const input of element.current!.querySelectorAll<HTMLInputElement>(KEPT)) {
      const kept = typed[nameOf(input)];
      if (kept === undefined) continue;
      if (input.type === 'checkbox') input.checked = kept !== '';
      else input.value = kept;
    }
  });
  return (
    <form
      {...form}
      ref={element}
      onInput={({ target }) => {
        if (!(target instanceof HTMLInputElement) || !target.matches(KEPT)) return;
        type(nameOf(target), target.type === 'checkbox' && !target.checked ? '' : target.value);
      }}
      onReset={forget}
    />
  );
}

/** Boxes of one name differ in their value. */
function nameOf({ name, type, value }: HTMLInputElement): string {
  return type === 'checkbox' ? `${name} ${value}` : name;
}
