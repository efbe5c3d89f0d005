import { useState } from 'react';
import { keyOfTab } from '../session.js';

type Typed = Record<string, string>;

/** What a person has typed about one thing. It outlives a reload, a lock, a refused save and a visit to another workspace. */
export function useTyped(about: string): {
  typed: Typed;
  type: (field: string, value: string) => void;
  forget: () => void;
} {
  const key = keyOfTab(`typed:${about}`);
  const kept = () => JSON.parse(sessionStorage.getItem(key) ?? '{}') as Typed;
  const [typed, setTyped] = useState(kept);
  return {
    typed,
    type: (field, value) => {
      // Two fields may be typed into before the page is drawn again.
      const after = { ...kept(), [field]: value };
      sessionStorage.setItem(key, JSON.stringify(after));
      setTyped(after);
    },
    forget: () => {
      sessionStorage.removeItem(key);
      setTyped({});
    },
  };
}
