import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.js';

const GUIDE = join(import.meta.dirname, '../../docs/guides/standing-orders.md');

/** The title of each recipe with its JSON, as a reader would copy it. */
async function recipes(): Promise<[title: string, json: string][]> {
  const text = await readFile(GUIDE, 'utf8');
  return [...text.matchAll(/^## (.+)$[^]*?^```json\n([^]*?)^```$/gm)].map(([, title, json]) => [
    title!,
    json!,
  ]);
}

const RECIPES = await recipes();

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

describe('the guide to standing orders', () => {
  it('has five recipes, and an order with a budget', () => {
    expect(RECIPES).toHaveLength(6);
  });

  it.each(RECIPES)('%s: is taken as it is printed, and becomes active', async (_title, json) => {
    const made = await test.owner.send('POST', '/standing-orders', json);
    expect(made.status, made.text).toBe(201);
    const { standingOrderId, status, effect } = made.body;
    // As the guide says: what lets something irreversible leave waits for an owner's word.
    const relaxes = effect === 'allow' && json.includes('email.send');
    expect(status, made.text).toBe(relaxes ? 'draft' : 'active');
    if (!relaxes) return;
    const activated = await test.owner.post(`/standing-orders/${standingOrderId}/activate`, {
      acknowledge: true,
      version: made.body.version,
    });
    expect(activated.body.status, activated.text).toBe('active');
  });
});
