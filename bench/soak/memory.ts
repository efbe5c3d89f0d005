import { readdirSync, readFileSync } from 'node:fs';

interface Sample {
  /** Minutes since the first. */
  at: number;
  service: number;
  drafting: number;
}

/** The resident memory of the service over time, in MB: of its main process, and of those that draft for it. */
export class Memory {
  readonly #samples: Sample[] = [];
  readonly #began = performance.now();

  constructor(private readonly pid: number) {}

  sample(): Sample {
    const at = (performance.now() - this.#began) / 60_000;
    const drafting = childrenOf(this.pid).filter((pid) => nameOf(pid) !== 'postgres');
    const one = {
      at,
      service: residentMb(this.pid),
      drafting: drafting.reduce((sum, pid) => sum + residentMb(pid), 0),
    };
    this.#samples.push(one);
    return one;
  }

  /** The most that the main process had, and by how many MB a minute it grew from this minute on (least squares). */
  summary(fromMinute: number): { max: number; maxDrafting: number; growth: number } {
    const later = this.#samples.filter(({ at }) => at >= fromMinute);
    const mean = (of: (sample: Sample) => number) =>
      later.reduce((sum, one) => sum + of(one), 0) / Math.max(1, later.length);
    const [meanAt, meanMb] = [mean(({ at }) => at), mean(({ service }) => service)];
    const spread = mean(({ at }) => (at - meanAt) ** 2);
    const together = mean(({ at, service }) => (at - meanAt) * (service - meanMb));
    return {
      max: Math.max(...this.#samples.map(({ service }) => service)),
      maxDrafting: Math.max(...this.#samples.map(({ drafting }) => drafting)),
      growth: spread === 0 ? 0 : together / spread,
    };
  }
}

/** Nothing for a process that has just ended. */
function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(statusOf(pid))?.[1] ?? 0) / 1024;
}

function nameOf(pid: number): string | undefined {
  return /^Name:\s+(.*)$/m.exec(statusOf(pid))?.[1];
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  return pids.filter((pid) => Number(/^PPid:\s+(\d+)/m.exec(statusOf(pid))?.[1]) === parent);
}
