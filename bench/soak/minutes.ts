import { quantile } from '../calls.js';
import type { Answer } from './client.js';

export const READS = ['/context', '/approvals', '/directives', '/audit-feed'] as const;
const TIMED = ['hand-in', 'approve', 'draft', ...READS] as const;

/** What is timed: a request by what it is for, and `draft`, from a hand-in to its draft. */
export type Timed = (typeof TIMED)[number];

/** What went wrong: an answer that no request of the soak should get. */
interface Fault {
  what: string;
  status: number;
  body: string;
}

const SHOWN_FAULTS = 5;
const SHOWN_CHARACTERS = 300;

/** The figures of the minute that runs, and what went wrong so far. */
export class Minutes {
  readonly faults: Fault[] = [];
  serverFaults = 0;
  otherFaults = 0;
  #times = new Map<Timed, number[]>();
  #minute = 0;
  #before = { serverFaults: 0, otherFaults: 0 };

  time(what: Timed, ms: number): void {
    const times = this.#times.get(what) ?? [];
    this.#times.set(what, times);
    times.push(ms);
  }

  /** Counts an answer; whether it was one of success. No answer at all counts as one of 5xx. */
  answered(what: Timed, { status, ms, body }: Answer): boolean {
    this.time(what, ms);
    if (status >= 200 && status < 300) return true;
    if (status === 0 || status >= 500) this.serverFaults++;
    else this.otherFaults++;
    if (this.faults.length < SHOWN_FAULTS) {
      this.faults.push({ what, status, body: body.slice(0, SHOWN_CHARACTERS) });
    }
    return false;
  }

  /** Prints the minute's row, with these columns behind its own, and begins the next. */
  end(more: Record<string, number>): void {
    if (this.#minute === 0) printHead(Object.keys(more));
    const { serverFaults, otherFaults } = this;
    const cells = [
      ++this.#minute,
      ...TIMED.map((what) => bothOf(this.#times.get(what))),
      otherFaults - this.#before.otherFaults,
      serverFaults - this.#before.serverFaults,
      ...Object.values(more).map((value) => value.toFixed(0)),
    ];
    console.log(`| ${cells.join(' | ')} |`);
    this.#times = new Map();
    this.#before = { serverFaults, otherFaults };
  }
}

function printHead(more: readonly string[]): void {
  const names = ['minute', ...TIMED, 'other than 2xx, 5xx', '5xx or none', ...more];
  console.log(`\np50 / p99 of each minute in ms; draft: from the hand-in until its draft is ready\n`);
  console.log(`| ${names.join(' | ')} |\n|${'---:|'.repeat(names.length)}`);
}

function bothOf(times: readonly number[] | undefined): string {
  return times ? `${quantile(times, 0.5).toFixed(1)} / ${quantile(times, 0.99).toFixed(1)}` : '-';
}
