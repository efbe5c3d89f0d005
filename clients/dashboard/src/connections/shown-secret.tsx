import { useState } from 'react';
import { useFocusOnce } from '../ui/use-focus-once.js';

export interface Secret {
  text: string;
  /** What it belongs to. */
  of: string;
  note: string;
}

/** A secret until somebody has kept it. */
export function ShownSecret({ secret: { text, of, note }, onKept }: { secret: Secret; onKept: () => void }) {
  const heading = useFocusOnce(text);
  const [copied, setCopied] = useState<string>();
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(text);
  };
  return (
    <section className="changed" aria-label="Secret">
      <h2 tabIndex={-1} ref={heading}>
        Secret of {of}
      </h2>
      <p role="alert">{note}</p>
      <pre className="output">{text}</pre>
      <div className="row">
        <button type="button" className="primary" onClick={() => void copy()}>
          {copied === text ? 'Copied' : 'Copy'}
        </button>
        <button type="button" onClick={onKept}>
          I have saved it
        </button>
      </div>
    </section>
  );
}
