export const VIEWS = ['boss', 'capo', 'auditor'] as const;
export type View = (typeof VIEWS)[number];

const KEY = 'view';

/** What stands in the address behind the path of a page: what it is narrowed to, and its page, of which the first is left out. */
export interface Search {
  view?: View;
  team?: string;
  date?: string;
  status?: string;
  sort?: string;
  /** The id of the receipt that is shown. */
  receipt?: string;
  /** The id of the standing order by which it left. */
  order?: string;
  page?: number;
}

/** What the address says; anything else in it is left out. */
export function searchOf({
  view,
  team,
  date,
  status,
  sort,
  receipt,
  order,
  page,
}: Record<string, unknown>): Search {
  return {
    ...(VIEWS.includes(view as View) && { view: view as View }),
    ...(typeof team === 'string' && { team }),
    ...(typeof date === 'string' && { date }),
    ...(typeof status === 'string' && { status }),
    ...(typeof sort === 'string' && { sort }),
    ...(typeof receipt === 'string' && { receipt }),
    ...(typeof order === 'string' && { order }),
    ...(Number.isInteger(page) && Number(page) > 1 && { page: Number(page) }),
  };
}

/** The view that was chosen last in this browser. */
export function rememberedView(): View {
  const kept = localStorage.getItem(KEY) as View;
  return VIEWS.includes(kept) ? kept : 'boss';
}

export function remember(view: View): void {
  localStorage.setItem(KEY, view);
}
