/** Fires late rather than early: what is not due yet is not claimed. */
const AFTER_DUE_MS = 2;

/** Timers by name, one each; the last one set counts. They only shorten the wait for the next look at the database. */
export class Alarms {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(private readonly onDue: (name: string) => void) {}

  set(name: string, inMs: number): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.set(
      name,
      setTimeout(() => {
        this.#timers.delete(name);
        this.onDue(name);
      }, inMs + AFTER_DUE_MS),
    );
  }

  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
