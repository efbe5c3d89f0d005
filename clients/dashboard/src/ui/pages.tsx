import { Link } from '@tanstack/react-router';
import type { Search } from '../overview/views.js';

/** As many as one page of a list shows. */
export const PAGE = 50;

/** The ways to the page before and the next one. */
export function Pages({ search, total }: { search: Search; total: number }) {
  const { page = 1, ...others } = search;
  if (total <= PAGE && page === 1) return null;
  const to = (next: number): Search => (next > 1 ? { ...others, page: next } : others);
  return (
    <nav aria-label="Pages of the list">
      {page > 1 && (
        <Link to="." search={to(page - 1)}>
          Newer ones
        </Link>
      )}
      <span className="quiet">
        {Math.min((page - 1) * PAGE + 1, total)} to {Math.min(page * PAGE, total)} of {total}
      </span>
      {page * PAGE < total && (
        <Link to="." search={to(page + 1)}>
          Older ones
        </Link>
      )}
    </nav>
  );
}
