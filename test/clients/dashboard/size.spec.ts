import { readdir, readFile, stat } from 'node:fs/promises';
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

it('loads less than 60 KB more for each page that is opened, compressed', async () => {
  const html = await readFile(new URL('index.html', DIST), 'utf8');
  const names = (await readdir(new URL('assets/', DIST))).filter((name) => name.endsWith('.js'));
  const later = names.filter((name) => !html.includes(name));
  const sizeOf = async (name: string) => (await stat(new URL(`assets/${name}.gz`, DIST))).size;
  /** A page with all that it imports and that the first load has not brought. */
  const withImports = async (name: string, seen = new Set<string>()): Promise<number> => {
    if (seen.has(name) || !later.includes(name)) return 0;
    seen.add(name);
    const code = await readFile(new URL(`assets/${name}`, DIST), 'utf8');
    let size = await sizeOf(name);
    for (const [, imported] of code.matchAll(/from"\.\/([^"]+\.js)"/g))
      size += await withImports(imported!, seen);
    return size;
  };
  expect(later.length).toBeGreaterThan(10);
  for (const name of later) expect(await withImports(name), name).toBeLessThan(60_000);
});
