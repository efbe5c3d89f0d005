import { readFile } from 'node:fs/promises';
import { Consigliere } from '@consigliere/sdk';
import { ConsigliereAdmin } from '@consigliere/sdk/admin';
import { expect, it } from 'vitest';

interface Operation {
  operationId: string;
  'x-internal'?: boolean;
}

it('has a method for every operation, those of the admin area in a client of their own', async () => {
  const { paths } = JSON.parse(
    await readFile(new URL('../../../docs/reference/openapi.json', import.meta.url), 'utf8'),
  ) as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.entries(paths)
    .flatMap(([path, item]) => Object.values(item).map((operation) => ({ path, ...operation })))
    .filter((operation) => !operation['x-internal']);
  expect(operations.length).toBeGreaterThan(200);
  const client = new Consigliere({ token: 'cons_of_nobody' });
  const admin = new ConsigliereAdmin();
  const missing = operations.filter(({ path, operationId }) => {
    const isAdmin = path.startsWith('/api/admin/');
    const resources = (isAdmin ? admin : client) as unknown as Record<string, Record<string, unknown>>;
    // In the admin area its own word says nothing more: `adminTokens.list` is `tokens.list`.
    const [resource = '', method = ''] = operationId
      .replace(/^admin([A-Z])/, (_, letter) => letter.toLowerCase())
      .split('.');
    return typeof resources[resource]?.[method] !== 'function';
  });
  expect(missing.map(({ operationId }) => operationId)).toEqual([]);
});
