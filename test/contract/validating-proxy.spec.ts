import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAdminPath } from '../../src/platform/http/admin-path.js';
import { type EventReceiver, startEventReceiver } from '../support/event-receiver.js';
import { recordStatements } from '../support/recorded-statements.js';
import { publishersOf } from '../support/skill-packs.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { DOCUMENT_FILE, operations } from './operations.js';
import { READINGS, stepOf, STEPS } from './steps.js';
import { undeclared } from './undeclared.js';
import { ValidatingProxy } from './validating-proxy.js';
import { type Area, PUBLISHER, Walk } from './walk.js';

const statements = recordStatements();
let test: TestApp;
let receiver: EventReceiver;
let proxy: ValidatingProxy;
let busy: Walk;

const begin = (area: Area) => Walk.begin(test, receiver, { url: proxy.url, area });

beforeAll(async () => {
  receiver = await startEventReceiver();
  test = await startTestApp({
    OUTBOUND_ALLOW: receiver.hostPort,
    SKILL_PACK_PUBLISHERS: publishersOf(PUBLISHER),
  });
  proxy = await ValidatingProxy.start(DOCUMENT_FILE, test.url);
  busy = await begin('pro');
  await busy.everything();
});
afterAll(async () => {
  await proxy?.close();
  await test?.close();
  await receiver?.close();
});

it('has a step for each operation of the document, and for no other', () => {
  const needed = new Set(operations.map(({ name }) => stepOf(name)));
  expect(Object.keys(STEPS).toSorted()).toEqual([...needed].toSorted());
});

describe.each(operations.map((operation) => [operation.name, operation] as const))(
  '%s',
  (name, operation) => {
    it('answers and refuses as the document says', async () => {
      const area = isAdminPath(operation.path) ? 'admin' : 'pro';
      const walk = READINGS.has(stepOf(name)) ? busy.in(area) : await begin(area);
      await STEPS[stepOf(name)]!(walk);
      const { calls } = walk;
      for (const { violations, status, answer } of calls) {
        expect(violations, `${status} ${answer.text.slice(0, 2000)}`).toEqual([]);
        expect(undeclared(operation, answer)).toEqual([]);
      }
      expect(new Set(calls.map((call) => call.name))).toEqual(new Set([name]));
      const seen = new Set(calls.map(({ status }) => String(status)));
      const successes = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
      expect([...seen]).toEqual(expect.arrayContaining(successes));
      expect([...seen].some((status) => status.startsWith('4'))).toBe(true);
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining([...seen]));
    });
  },
);

/** As a condition, in a join, or among the columns of a row that is added. */
const NAMES_WORKSPACE =
  /workspace_id"?\s*(=|in\b)|=\s*(\w+\.)?"?workspace_id|into\s+"?\w+"?\s*(as \w+ )?\([^)]*workspace_id/i;

describe('the statements that all of this has sent', () => {
  it('name the workspace wherever they touch a table of workspaces (docs/scaling.md)', async () => {
    const tables = await test.rows<{ name: string }>(
      `select c.relname as name from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`,
    );
    const names = tables.map(({ name }) => name).join('|');
    const touching = [...statements].filter((text) =>
      new RegExp(`\\b(from|join|into|update|using)\\s+"?(${names})\\b`, 'i').test(text),
    );

    expect(touching.length).toBeGreaterThan(0);
    expect(touching.filter((text) => !NAMES_WORKSPACE.test(text))).toEqual([]);
  });
});
