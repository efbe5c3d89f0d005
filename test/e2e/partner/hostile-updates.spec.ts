import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { expectErrorShape, expectNoStack } from '../platform/error-shape.js';
import { PartnerDesk } from './partner-desk.js';

let test: TestApp;
let desk: PartnerDesk;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api', LOG_LEVEL: 'error' });
  desk = await PartnerDesk.of(test);
});
afterAll(() => test.close());

const FIELDS = [
  'workspaceId',
  'customerEntitlementId',
  'partnerTargetId',
  'partnerEventId',
  'metric',
  'delta',
  'newConfidence',
  'priorConfidence',
  'sourceServiceRef',
  'firedAt',
  'constructor',
  'more',
];

/** JSON as text, since some of it is nothing that JSON.stringify would write. */
const value = fc.oneof(
  fc.json(),
  fc.constantFrom(
    ...['1e400', '-1e400', '1e300', '-0', '1e-400', '9007199254740993', '0.1', '1', '-1', 'null', 'true'],
    ...['"\\u0000"', '"\\ud800"', '"<script>"', `"'; drop table buyers; --"`, '"=cmd|calc!A1"', '"a\\r\\nb"'],
    ...['{"__proto__":{"table":"t"}}', '{"table":"t","id":"\\u0000"}', '[]', '{}', '"\u202e"', '01', 'NaN'],
    ...[`"${'x'.repeat(30_000)}"`, `${'['.repeat(40)}${']'.repeat(40)}`],
  ),
);

describe('a signed update with anything in it', () => {
  it('never gets a 5xx, never a stack, always our shape', { timeout: 120_000 }, async () => {
    const statuses = new Map<number, number>();
    const change = fc.dictionary(fc.constantFrom(...FIELDS), value, { minKeys: 1, maxKeys: 3 });
    await fc.assert(
      fc.asyncProperty(change, async (members) => {
        const valid = Object.entries(desk.update()).map(([key, own]) => [key, JSON.stringify(own)] as const);
        const all = new Map([...valid, ...Object.entries(members)]);
        const raw = `{${[...all].map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(',')}}`;
        const answer = await desk.sendRaw(raw);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        expect([200, 202, 400, 401, 409, 422], raw).toContain(answer.status);
        if (answer.status >= 400) expectErrorShape(answer, 'A');
        expectNoStack(answer.text, raw);
      }),
      { numRuns: 1_000 },
    );
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([202, 400, 401, 422]));
  });
});
