import { expect } from 'vitest';
import { Client } from '../../support/client.js';
import type { TestApp } from '../../support/test-app.js';

/** A client that works offline: it keeps its cursor, and every receipt that it was given, in order. */
export class Device {
  receipts: { seq: number; hash: string }[] = [];
  cursor: string | undefined;
  resets = 0;

  constructor(
    readonly test: TestApp,
    readonly token: string,
    readonly deviceId: string,
  ) {}

  /** One call, from an address of its own: one may call five times an hour. */
  call(body: object) {
    return new Client(this.test.url, this.token).post('/api/local/hydrate', body);
  }

  /** One call with what it keeps; answers what came. */
  async once(): Promise<any> {
    const { deviceId, cursor: since } = this;
    const { status, body, text } = await this.call({ deviceId, ...(since !== undefined && { since }) });
    expect(status, text.slice(0, 500)).toBe(200);
    if (body.reset) {
      this.receipts = [];
      this.resets++;
    }
    this.receipts.push(...body.receipts);
    this.cursor = body.cursor;
    return { ...body, bytes: Buffer.byteLength(text) };
  }

  /** Calls until there is no more. */
  async all(): Promise<void> {
    while ((await this.once()).more);
  }

  get numbers(): number[] {
    return this.receipts.map(({ seq }) => seq);
  }
}
