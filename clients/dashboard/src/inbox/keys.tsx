import { useEffect, useRef, useState } from 'react';
import { Dialog } from '../ui/dialog.js';

/** A key of what is shown names its button or field in `aria-keyshortcuts`; it is pressed or focused. */
const KEYS: readonly [key: string, meaning: string][] = [
  ['j', 'Next one'],
  ['k', 'The one before'],
  ['Enter', 'Open the first'],
  ['x', 'Choose the open one, to decide many at once'],
  ['a', 'Approve'],
  ['e', 'Change the first field'],
  ['r', 'Say what should be different, to send back or reject'],
  ['s', 'Snooze'],
  ['Esc', 'Leave a field, then close the open one'],
  ['?', 'This list'],
  ['Ctrl J', 'Open or close the chat; ⌘ J on a Mac; always on'],
  ['Ctrl K', 'Find a page, a command or an id; ⌘ K on a Mac; always on'],
];

const OFF = 'keys:off';

/** Runs what a key means, unless a person is typing or a dialog is open. */
export function useKeys(act: (key: string) => void): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (document.querySelector('[role=dialog]') || localStorage.getItem(OFF)) return;
      const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select');
      if (isTyping && !(target instanceof HTMLInputElement && target.type === 'checkbox')) {
        if (key === 'Escape') target.blur();
        return;
      }
      // Enter on a button or a link is its own.
      if (key === 'Enter' && target instanceof HTMLElement && target.matches('a, button, input, summary'))
        return;
      const element = document.querySelector<HTMLElement>(`[aria-keyshortcuts="${CSS.escape(key)}"]`);
      if (element instanceof HTMLButtonElement) element.click();
      else if (element) element.focus();
      else return latest.current(key);
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** What the keys do, and the switch that turns them off. */
export function KeysDialog() {
  const [isOpen, setOpen] = useState(false);
  const [isOff, setOff] = useState(() => localStorage.getItem(OFF) !== null);
  return (
    <>
      <button type="button" className="keys" aria-keyshortcuts="?" onClick={() => setOpen(true)}>
        Keys
      </button>
      <Dialog title="Keys" description="They work while no field is open." isOpen={isOpen} setOpen={setOpen}>
        <dl className="key-list">
          {KEYS.map(([key, meaning]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <label className="check">
          <input
            type="checkbox"
            checked={!isOff}
            onChange={({ target }) => {
              if (target.checked) localStorage.removeItem(OFF);
              else localStorage.setItem(OFF, 'yes');
              setOff(!target.checked);
            }}
          />
          Use single keys
        </label>
        <button type="button" onClick={() => setOpen(false)}>
          Close
        </button>
      </Dialog>
    </>
  );
}
