import { readFile } from 'node:fs/promises';
import { Consigliere } from '@consigliere/sdk';
import { expect, it } from 'vitest';

interface Operation {
  operationId: string;
  security?: object[];
  'x-internal'?: boolean;
}

it('has a method for every operation that an operator token may call', async () => {
  const { paths } = JSON.parse(
    await readFile(new URL('../../../docs/reference/openapi.json', import.meta.url), 'utf8'),
  ) as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.values(paths)
    .flatMap((item) => Object.values(item))
    .filter((operation) => !operation['x-internal'])
    .filter(({ security }) => !security?.some((scheme) => 'adminSession' in scheme))
    .map(({ operationId }) => operationId);
  expect(operations.length).toBeGreaterThan(100);
  const client = new Consigliere({ token: 'cons_of_nobody' }) as unknown as Record<
    string,
    Record<string, unknown>
  >;
  const missing = operations.filter((id) => {
    const [resource = '', method = ''] = id.split('.');
    return typeof client[resource]?.[method] !== 'function';
  });
  expect(missing).toEqual([]);
});
