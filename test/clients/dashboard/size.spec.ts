import { readFile, stat } from 'node:fs/promises';
import { expect, it } from 'vitest';

const DIST = new URL('../../../clients/dashboard/dist/', import.meta.url);

it('loads less than 150 KB before the inbox is shown, compressed', async () => {
  const html = await readFile(new URL('index.html', DIST), 'utf8');
  const names = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, name]) => name!);
  const sizes = await Promise.all(names.map(async (name) => (await stat(new URL(`${name}.gz`, DIST))).size));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeGreaterThan(50_000);
  expect(total).toBeLessThan(150_000);
});
