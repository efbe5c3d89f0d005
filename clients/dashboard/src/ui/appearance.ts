export const APPEARANCES = ['system', 'light', 'dark'] as const;
export type Appearance = (typeof APPEARANCES)[number];

const KEY = 'appearance';

/** What was chosen in this browser. */
export function appearance(): Appearance {
  return APPEARANCES.find((one) => one === localStorage.getItem(KEY)) ?? 'system';
}

export function choose(one: Appearance): void {
  localStorage.setItem(KEY, one);
  show();
}

/** The style sheet does the rest. */
export function show(): void {
  document.documentElement.dataset['appearance'] = appearance();
}
