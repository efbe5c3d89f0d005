import { readFile, stat } from 'node:fs/promises';
import { expect, it } from 'vitest';

const DIST = new URL('../../../clients/dashboard/dist/', import.meta.url);
const FIRST_LOAD = 150_000;
const FURTHER_PAGE = 60_000;

const sizeOf = async (name: string) => (await stat(new URL(`assets/${name}.gz`, DIST))).size;

/** What a script loads with it, and what those load. */
async function withImports(name: string, found = new Set<string>()): Promise<Set<string>> {
  if (found.has(name)) return found;
  found.add(name);
  const script = await readFile(new URL(`assets/${name}`, DIST), 'utf8');
  const imports = [...script.matchAll(/(?:from|^import|[;}]import)\s*["']\.\/([\w.-]+\.js)["']/g)];
  for (const [, other] of imports) await withImports(other!, found);
  return found;
}

async function firstLoad(): Promise<Set<string>> {
  const html = await readFile(new URL('index.html', DIST), 'utf8');
  const names = [...html.matchAll(/(?:src|href)="\/assets\/([^"]+\.(?:js|css))"/g)].map(([, name]) => name!);
  const all = new Set(names.filter((name) => name.endsWith('.css')));
  for (const name of names) if (name.endsWith('.js')) await withImports(name, all);
  return all;
}

const sum = async (names: Iterable<string>) =>
  (await Promise.all([...names].map(sizeOf))).reduce((total, size) => total + size, 0);

it('loads less than 150 KB before the inbox is shown, compressed', async () => {
  const total = await sum(await firstLoad());
  expect(total).toBeGreaterThan(50_000);
  expect(total).toBeLessThan(FIRST_LOAD);
});

it('loads less than 60 KB for each further page, compressed', async () => {
  const first = await firstLoad();
  const [entry] = [...first].filter((name) => name.startsWith('index-') && name.endsWith('.js'));
  const script = await readFile(new URL(`assets/${entry}`, DIST), 'utf8');
  const pages = new Set(
    [...script.matchAll(/import\(["'`]\.\/([\w.-]+\.js)["'`]\)/g)].map(([, name]) => name!),
  );
  expect(pages.size).toBeGreaterThan(6);
  const sizes: Record<string, number> = {};
  for (const page of pages) {
    sizes[page] = await sum([...(await withImports(page))].filter((name) => !first.has(name)));
    expect(sizes[page], page).toBeLessThan(FURTHER_PAGE);
  }
  console.info('first load', await sum(first), 'further pages', sizes);
});
