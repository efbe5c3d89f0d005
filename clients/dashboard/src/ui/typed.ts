import { useState } from 'react';

type Typed = Record<string, string>;

/** What a person has typed about one thing. It outlives a reload, a lock and a refused save; it is not sent anywhere. */
export function useTyped(about: string): {
  typed: Typed;
  type: (field: string, value: string) => void;
  forget: () => void;
} {
  const key = `typed:${about}`;
  const [typed, setTyped] = useState<Typed>(() => JSON.parse(sessionStorage.getItem(key) ?? '{}') as Typed);
  return {
    typed,
    type: (field, value) => {
      setTyped((before) => {
        const after = { ...before, [field]: value };
        sessionStorage.setItem(key, JSON.stringify(after));
        return after;
      });
    },
    forget: () => {
      sessionStorage.removeItem(key);
      setTyped({});
    },
  };
}
