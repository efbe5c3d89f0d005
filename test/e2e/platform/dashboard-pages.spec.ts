import { mkdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DashboardController } from '../../../src/features/dashboard/dashboard.controller.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const DASHBOARD = join(import.meta.dirname, '../../../clients/dashboard');

describe('the pages of the dashboard', () => {
  let test: TestApp;

  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test?.close());

  it('are those of its router, so that each can be opened and reloaded', async () => {
    const router = await readFile(join(DASHBOARD, 'src/router.tsx'), 'utf8');
    const routed = [...router.matchAll(/\bpage\(\s*'([^']+)'/g)].map(([, path]) => path!);
    expect(routed.length).toBeGreaterThan(20);
    const served = Reflect.getMetadata(
      'path',
      Reflect.get(DashboardController.prototype, 'page'),
    ) as string[];
    const asRouted = served.map((path) => `/${path}`.replace('//', '/').replaceAll(':', '$'));
    expect(asRouted.toSorted()).toEqual(routed.toSorted());
    for (const path of routed) {
      const { status, headers } = await fetch(test.url + path.replaceAll(/\$\w+/g, 'some_id'));
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
    }
  });

  it('have files, of which one that is not there is not found', async () => {
    for (const name of ['none.svg', `${'a'.repeat(300)}.svg`, 'none.js']) {
      expect((await fetch(`${test.url}/assets/${name}`)).status).toBe(404);
    }
  });

  it('have files, of which one that cannot be read is an error of the service', async () => {
    const folder = join(DASHBOARD, 'dist/assets/unreadable.svg');
    await mkdir(folder);
    try {
      const answer = await fetch(`${test.url}/assets/unreadable.svg`);
      expect(answer.status).toBe(500);
      expect(((await answer.json()) as { error: { code: string } }).error.code).toBe('INTERNAL');
    } finally {
      await rmdir(folder);
    }
  });
});
