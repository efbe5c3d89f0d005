import { InvalidTransition } from './errors.js';

/** One line of a table of states: what leads from which statuses to which. */
export interface Transition<Status extends string, Trigger extends string> {
  trigger: Trigger;
  /** `null`: the record does not exist yet. */
  from: readonly (Status | null)[];
  to: Status;
  /** Who brings it about. */
  by: string;
  /** When it does, in a sentence for the reference. */
  when: string;
}

/** All transitions of a record. What is not in it cannot happen; statements repeat only which statuses they start from. */
export class TransitionTable<Status extends string, Trigger extends string> {
  constructor(readonly transitions: readonly Transition<Status, Trigger>[]) {}

  /** Where `trigger` leads from `from`. @throws InvalidTransition when it does not lead anywhere from there */
  next(from: Status | null, trigger: Trigger): Status {
    const found = this.transitions.find((one) => one.trigger === trigger && one.from.includes(from));
    if (!found) throw new InvalidTransition({ details: { status: from } });
    return found.to;
  }

  /** The statuses that `trigger` leads from. */
  sources(trigger: Trigger): Status[] {
    return this.transitions
      .filter((one) => one.trigger === trigger)
      .flatMap(({ from }) => from.filter((status) => status !== null));
  }

  /** {@link sources} as a list for a statement. */
  sourcesSql(trigger: Trigger): string {
    return sqlList(this.sources(trigger));
  }

  /** Whether nothing leads from this status. */
  isFinal(status: Status): boolean {
    return !this.transitions.some(({ from }) => from.includes(status));
  }
}

/** Our own statuses as a list in a statement: as a parameter no plan could use the index of just these rows. */
export function sqlList(statuses: readonly string[]): string {
  return `(${statuses.map((status) => `'${status}'`).join(', ')})`;
}
