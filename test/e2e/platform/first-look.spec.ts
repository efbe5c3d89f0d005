import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const CURL = { 'User-Agent': 'curl/8.5.0' };

describe('GET /', () => {
  it('is the dashboard, whose scripts come from here', async () => {
    const page = await fetch(test.url);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self';");
    const [, script] = /<script[^>]+src="([^"]+)"/.exec(await page.text())!;
    const asset = await fetch(test.url + script!);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect([asset.headers.get('content-encoding'), asset.headers.get('content-type')]).toEqual([
      'gzip',
      'text/javascript; charset=utf-8',
    ]);
    for (const none of ['/assets/none.js', '/assets/..%2findex.html', '/assets/index.html']) {
      expect((await fetch(test.url + none)).status, none).toBe(404);
    }
  });
});

describe('an answer to curl', () => {
  it('ends with a line break, counted in its length; other clients get the same bytes without it', async () => {
    for (const path of ['/health/live', '/settings', '/no/such/route']) {
      const [toCurl, toOthers] = [await test.owner.get(path, CURL), await test.owner.get(path)];
      expect(toCurl.text.endsWith('}\n'), path).toBe(true);
      expect(toCurl.headers.get('content-length')).toBe(String(Buffer.byteLength(toCurl.text)));
      expect(toOthers.text.endsWith('}'), path).toBe(true);
      expect(toCurl.status).toBe(toOthers.status);
    }
  });

  it('is stored without it, so that a replay is the same for every client', async () => {
    const body = { text: 'Write it down.' };
    const key = { 'Idempotency-Key': newId('req') };
    const first = await test.owner.post('/directive', body, { ...key, ...CURL });
    const again = await test.owner.post('/directive', body, key);
    const curlAgain = await test.owner.post('/directive', body, { ...key, ...CURL });
    expect(first.text).toBe(`${again.text}\n`);
    expect(curlAgain.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('is left as it is when it is a page', async () => {
    const [toCurl, toOthers] = [await test.owner.get('/docs', CURL), await test.owner.get('/docs')];
    expect(toCurl.text).toBe(toOthers.text);
  });
});

describe('the link in approval.requested', () => {
  it('leads to the dashboard, the same for every id, one that is none too', async () => {
    const [page, other] = await Promise.all(
      [newId('apr'), encodeURIComponent('<script>')].map(async (id) =>
        (await fetch(`${test.url}/approvals/${id}`)).text(),
      ),
    );
    expect(page).toBe(other);
    expect(page).toContain('<div id="root">');
  });
});
