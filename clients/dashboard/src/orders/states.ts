/** What each state of an order means. */
export const STATES = {
  draft: 'It decides nothing until it is activated.',
  shadow: 'It is tried out: it changes nothing, and shows what it would have done.',
  active: 'It decides.',
  paused: 'It decides nothing until it is activated again.',
  archived: 'It decides nothing any more.',
} as const;
type State = keyof typeof STATES;

/** The state that the address of the list names; `all` of them where it names none. */
export function stateIn(search: object): State | 'all' {
  const { status } = search as { status?: unknown };
  return typeof status === 'string' && status in STATES ? (status as State) : 'all';
}
