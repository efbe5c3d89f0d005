import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DISMISSAL, EscalationOptions } from '../../src/features/escalations/escalations.service.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const GUIDE = join(import.meta.dirname, '../../docs/guides/escalations.md');

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** The rows of the table with the options, as the guide prints them. */
async function printed(): Promise<string[]> {
  const [, section] = (await readFile(GUIDE, 'utf8')).split('## What each option does');
  return section!
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', ''))
        .join(' | '),
    );
}

describe('the guide to escalations', () => {
  it('says of each option that is registered, and of no other, what it does and who may choose it', async () => {
    const registered = test.app
      .get(EscalationOptions)
      .all()
      .flatMap(({ kind, entityType, handler }) =>
        Object.entries(handler.options).map(([option, { effect, role }]) =>
          [kind, entityType, option, effect, role].join(' | '),
        ),
      );
    const dismissal = ['every kind', '', 'dismiss', DISMISSAL.effect, DISMISSAL.role].join(' | ');
    expect((await printed()).toSorted()).toEqual([...registered, dismissal].toSorted());
  });
});

it('each option says in one sentence what it does', () => {
  for (const { handler } of test.app.get(EscalationOptions).all()) {
    for (const { effect } of Object.values(handler.options)) expect(effect).toMatch(/^[A-Z][^.]{15,150}\.$/);
  }
});
