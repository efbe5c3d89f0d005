export const VIEWS = ['boss', 'capo', 'auditor'] as const;
export type View = (typeof VIEWS)[number];

const KEY = 'view';

export interface OverviewSearch {
  view?: View;
  team?: string;
  date?: string;
}

/** What the address says; anything else in it is left out. */
export function searchOf({ view, team, date }: Record<string, unknown>): OverviewSearch {
  return {
    ...(VIEWS.includes(view as View) && { view: view as View }),
    ...(typeof team === 'string' && { team }),
    ...(typeof date === 'string' && { date }),
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
