/** An export holds the one lock for exports, and old rows of the whole database, for as long as it runs. */
const LONGEST_MS = 30 * 60_000;

/** What a reader may keep it waiting before it is asked how much they have taken meanwhile. */
const PATIENCE_MS = 60_000;
/** Half a megabit a second. */
const LEAST_BYTES_PER_MS = 64;

/** The reader is too slow, or the export too long. */
export class ExportOverdue extends Error {}

/** How fast an export is taken. Only the time counts in which it waits for its reader, and the end that each has. */
export class ExportPace {
  #waited = 0;
  #bytes = 0;

  /** @param startedAt Unix milliseconds, as all times here */
  constructor(private readonly startedAt: number) {}

  /** @throws ExportOverdue */
  taken(bytes: number, handedAt: number, takenAt: number): void {
    this.#bytes += bytes;
    this.#waited += takenAt - handedAt;
    if (takenAt - this.startedAt > LONGEST_MS)
      throw new ExportOverdue('the export took longer than 30 minutes');
    if (this.#waited > PATIENCE_MS + this.#bytes / LEAST_BYTES_PER_MS) {
      throw new ExportOverdue('the reader took less than 64 kB a second');
    }
  }
}
