import { Autocomplete } from '@base-ui/react/autocomplete';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { isId, placeOf } from './places.js';

interface Item {
  value: string;
  label: string;
  run: () => void;
}

/** What the bar and the page offer: what a role may not do is not among it. */
const OFFERED = '.bar a, .bar button, main button, main li a';
const MOST_SHOWN = 30;

/** Finds a page, a command or a thing by its id (Ctrl-K, Cmd-K). */
export function Palette({ close }: { close: () => void }) {
  const navigate = useNavigate();
  const [items] = useState(offered);
  const [text, setText] = useState('');
  const [failure, setFailure] = useState<Error>();
  const id = text.trim();
  const opened: Item[] = isId(id)
    ? [
        {
          value: id,
          label: `Open ${id}`,
          run: () => {
            placeOf(id)
              .then((to) => {
                close();
                return navigate({ to });
              })
              .catch(setFailure);
          },
        },
      ]
    : [];
  return (
    <Dialog
      title="Find"
      description="A page, a command, or the id of a thing. Enter opens the highlighted entry."
      isOpen
      setOpen={close}
    >
      {failure && <Failure error={failure} />}
      <Autocomplete.Root
        open
        inline
        items={[...opened, ...items]}
        itemToStringValue={({ label }: Item) => label}
        limit={MOST_SHOWN}
        autoHighlight="always"
        value={text}
        onValueChange={(value, { reason }) => {
          if (reason === 'item-press') return;
          setFailure(undefined);
          setText(value);
        }}
      >
        <Autocomplete.Input aria-label="Page, command or id" />
        <Autocomplete.Empty className="empty">Nothing found.</Autocomplete.Empty>
        <Autocomplete.List className="palette">
          {(item: Item) => (
            <Autocomplete.Item key={item.value} value={item} onClick={item.run}>
              {item.label}
            </Autocomplete.Item>
          )}
        </Autocomplete.List>
      </Autocomplete.Root>
      <button type="button" onClick={close}>
        Close
      </button>
    </Dialog>
  );

  /** Read once, before the dialog hides the page from screen readers. */
  function offered(): Item[] {
    const named = new Map<string, HTMLElement>();
    for (const element of document.querySelectorAll<HTMLElement>(OFFERED)) {
      const label = nameOf(element);
      if (label && !named.has(label) && !element.matches(':disabled')) named.set(label, element);
    }
    return [...named].map(([label, element]) => ({
      value: label,
      label,
      run: () => {
        close();
        // The page is not to be reached before the dialog is gone.
        setTimeout(() => element.click());
      },
    }));
  }
}

function nameOf(element: HTMLElement): string {
  const shown = element.ariaLabel ?? (element.querySelector('.title') ?? element).textContent;
  const group = element.closest('[role=group]')?.ariaLabel;
  return `${group ? `${group}: ` : ''}${shown}`.replace(/\s+/g, ' ').trim();
}
