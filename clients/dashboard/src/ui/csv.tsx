import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Failure } from './failure.js';
import { type ListPage, useLeft } from './read-all.js';

interface Given {
  /** What the rows are, such as `members`: the file is named after it. */
  name: string;
  /** How many are there, as far as it is known: of none there is no file. */
  total: number | undefined;
  /** Reads a page of them, with the filters that the list has. */
  list: ListPage;
}

/** Takes a list along as a file for spreadsheets: all of its rows, and not only those that are shown. */
export function Csv({ name, total, list }: Given) {
  const [said, say] = useState('');
  const left = useLeft();
  const save = useMutation({
    mutationFn: async () => {
      const signal = left();
      const { saveList } = await import('./csv-file.js');
      return saveList(name.replaceAll(' ', '-'), list, say, signal);
    },
    onSuccess: say,
    onError: () => say(''),
  });
  if (!total) return null;
  return (
    <div className="row">
      <button
        type="button"
        aria-label={`CSV of ${name}`}
        disabled={save.isPending}
        onClick={() => save.mutate()}
      >
        CSV
      </button>
      <span className="quiet" role="status">
        {said}
      </span>
      {save.error && <Failure error={save.error} />}
    </div>
  );
}

/** A list that is there already, as one page. */
export async function onePage(items: readonly object[]) {
  return { items, total: items.length, nextCursor: null };
}
