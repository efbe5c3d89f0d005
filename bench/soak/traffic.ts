import type { Workspace } from '../workspaces.js';
import type { Client } from './client.js';
import { type Minutes, READS } from './minutes.js';

/** A hand-in that was accepted, and the customer that its mail goes to. */
export interface Accepted {
  directiveId: string;
  customer: string;
}

interface Waiting {
  token: string;
  sentAt: number;
}

/** What the clients do: they hand in, approve each draft as soon as it is ready, and read. */
export class Traffic {
  readonly accepted: Accepted[] = [];
  approved = 0;
  /** Approvals whose draft is still to come. */
  readonly #waiting = new Map<string, Waiting>();
  /** Drafts that were ready before the answer of their hand-in was here. */
  readonly #early = new Map<string, number>();
  readonly #seen = new Set<string>();

  constructor(
    private readonly client: Client,
    private readonly workspaces: readonly Workspace[],
    private readonly minutes: Minutes,
  ) {}

  async handIn(n: number): Promise<void> {
    const { token } = this.workspaces[n % this.workspaces.length]!;
    const customer = `customer${n}@shop.example`;
    const text = `Email ${customer}, subject "Order ${n}": Order ${n} ships on Friday.`;
    const sentAt = performance.now();
    const answer = await this.client.post('/directive', token, { text }, `soak-${n}`);
    if (!this.minutes.answered('hand-in', answer)) return;
    const { directiveId, approvalId } = JSON.parse(answer.body) as Record<
      'directiveId' | 'approvalId',
      string
    >;
    this.accepted.push({ directiveId, customer });
    this.#waiting.set(approvalId, { token, sentAt });
    const readyAt = this.#early.get(approvalId);
    if (readyAt !== undefined) await this.approve(approvalId, readyAt);
  }

  /** An approval has changed: its draft is ready, or it was decided. */
  async changed(approvalId: string): Promise<void> {
    if (this.#seen.has(approvalId)) return;
    const at = performance.now();
    if (this.#waiting.has(approvalId)) await this.approve(approvalId, at);
    else this.#early.set(approvalId, at);
  }

  async read(n: number): Promise<void> {
    const path = READS[n % READS.length]!;
    const { token } = this.workspaces[Math.floor(n / READS.length) % this.workspaces.length]!;
    this.minutes.answered(path, await this.client.get(path, token));
  }

  private async approve(approvalId: string, readyAt: number): Promise<void> {
    const { token, sentAt } = this.#waiting.get(approvalId)!;
    this.#seen.add(approvalId);
    this.#waiting.delete(approvalId);
    this.#early.delete(approvalId);
    this.minutes.time('draft', readyAt - sentAt);
    const answer = await this.client.post(`/approvals/${approvalId}/approve`, token);
    if (this.minutes.answered('approve', answer)) this.approved++;
  }
}
