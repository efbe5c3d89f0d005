import { useId, useState } from 'react';

interface Given {
  label: string;
  hint?: string;
  /** What exists already, offered while one types. */
  known: readonly string[];
  values: readonly string[];
  onChange: (values: string[]) => void;
}

/** Several names, each of which is completed from what exists. */
export function NamesField({ label, hint, known, values, onChange }: Given) {
  const id = useId();
  const [typed, setTyped] = useState('');
  const add = () => {
    const name = typed.trim();
    if (name !== '' && !values.includes(name)) onChange([...values, name]);
    setTyped('');
  };
  return (
    <fieldset>
      <legend>
        {label} {hint && <span className="quiet">{hint}</span>}
      </legend>
      {values.length > 0 && (
        <div className="row">
          {values.map((value) => (
            <button
              key={value}
              type="button"
              aria-label={`${value}: take it out`}
              onClick={() => onChange(values.filter((one) => one !== value))}
            >
              {value} <span aria-hidden>×</span>
            </button>
          ))}
        </div>
      )}
      <input
        aria-label={`Add to: ${label}`}
        list={id}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          // Enter adds the name, and sends the form only when there is none to add.
          if (typed.trim() !== '') event.preventDefault();
          add();
        }}
      />
      <datalist id={id}>
        {known
          .filter((name) => !values.includes(name))
          .map((name) => (
            <option key={name} value={name} />
          ))}
      </datalist>
    </fieldset>
  );
}
