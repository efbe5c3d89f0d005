import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const CURL = { 'User-Agent': 'curl/8.5.0' };

describe('GET /', () => {
  it('leads to the API reference, without a token', async () => {
    const answer = await fetch(test.url, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/docs']);
    const page = await fetch(test.url);
    expect([page.status, page.url]).toEqual([200, `${test.url}/docs`]);
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
  it('leads to a page that says how to read and decide, and shows nothing of the draft', async () => {
    const { approvalId } = await new Desk(test).handInReady({
      text: 'Email jane@acme.example, subject "Your order": "Your order ships on Friday."',
    });
    const url = `${test.url}/approvals/${approvalId}`;
    const page = await fetch(url);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const html = await page.text();
    expect(html).toContain(`curl -s ${test.url}/api/pro/approvals/${approvalId} `);
    expect(html).toContain(`/api/pro/approvals/${approvalId}/approve `);
    expect(html).not.toMatch(/jane|Friday|cons_/i);
  });

  it('is the same page for an id that nothing has, and none for what is no id', async () => {
    const nobody = new Client(test.url, undefined);
    const unknown = newId('apr');
    const page = await fetch(`${test.url}/approvals/${unknown}`);
    expect([page.status, (await page.text()).includes(unknown)]).toEqual([200, true]);
    for (const id of ['1', newId('dir'), encodeURIComponent('<script>')]) {
      expect((await fetch(`${test.url}/approvals/${id}`)).status).toBe(404);
    }
    expect((await nobody.get(`/approvals/${unknown}`)).status).toBe(401);
  });
});
