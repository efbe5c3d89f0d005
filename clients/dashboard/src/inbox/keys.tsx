import { useEffect, useRef, useState } from 'react';
import { Dialog } from '../ui/dialog.js';

/** A key of what is shown names its button or field in `aria-keyshortcuts`; it is pressed or focused. */
const KEYS: readonly [key: string, meaning: string][] = [
  ['j', 'Next one'],
  ['k', 'Previous one'],
  ['Enter', 'Open the first'],
  ['x', 'Select the open one, to decide several at once'],
  ['a', 'Approve, if the draft is in view to its end; otherwise go to Approve, where Enter presses it'],
  ['e', 'Change the first field'],
  ['r', 'Say what should be different, to send back or reject'],
  ['s', 'Snooze'],
  ['Esc', 'Leave a field, then close the open one'],
  ['?', 'This list'],
  ['Ctrl J', 'Open or close the chat; ⌘ J on a Mac; always on'],
  ['Ctrl K', 'Find a page, a command or an id; ⌘ K on a Mac; always on'],
];

const OFF = 'keys:off';
const APPROVE = '[aria-keyshortcuts="a"]';
const MODIFIERS = new Set(['Shift', 'Control', 'Alt', 'Meta']);

/** Below the content: where it is in view, the end of the content is. */
function isInView(button: Element): boolean {
  const { top, bottom } = button.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}

/** Runs what a key means, unless a person is typing or a dialog is open. */
export function useKeys(act: (key: string) => void): void {
  const latest = useRef(act);
  /** The Approve button that a key has pressed last, or leads to. That of the next one is pressed once a person has done anything else there. */
  const decided = useRef<Element>(null);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    const onInput = () => {
      const button = document.querySelector(APPROVE);
      if (button && button !== decided.current) decided.current = null;
    };
    const onKey = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (key !== 'a' && key !== 'Enter' && !event.repeat && !MODIFIERS.has(key)) onInput();
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (document.querySelector('[role=dialog]') || localStorage.getItem(OFF)) return;
      const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select');
      if (isTyping && !(target instanceof HTMLInputElement && target.type === 'checkbox')) {
        if (key === 'Escape') target.blur();
        return;
      }
      if (event.repeat) return;
      // Enter on a button or a link is its own.
      if (key === 'Enter' && target instanceof HTMLElement && target.matches('a, button, input, summary')) {
        if (target.matches(APPROVE)) decided.current = target;
        return;
      }
      const element = document.querySelector<HTMLElement>(`[aria-keyshortcuts="${CSS.escape(key)}"]`);
      if (key === 'a' && element instanceof HTMLButtonElement) approveBy(element);
      else if (element instanceof HTMLButtonElement) element.click();
      else if (element) element.focus();
      else return latest.current(key);
      event.preventDefault();
    };
    const approveBy = (button: HTMLButtonElement) => {
      if (button.disabled || (decided.current && decided.current !== button)) return;
      if (button !== document.activeElement && !button.hasAttribute('data-grave') && isInView(button)) {
        decided.current = button;
        button.click();
      } else button.focus();
    };
    document.addEventListener('keydown', onKey);
    document.addEventListener('pointerdown', onInput);
    document.addEventListener('wheel', onInput, { passive: true });
    return () => {
      document.removeEventListener('keydown', onKey);
      document.removeEventListener('pointerdown', onInput);
      document.removeEventListener('wheel', onInput);
    };
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
