import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCases, SETS } from '../../evals/case.js';
import { builtinAssistant, type Result, runCases } from '../../evals/run.js';
import { CHECKS, GRAVE } from '../../evals/scoring.js';

const cases = await loadCases(join(import.meta.dirname, '../../evals'), SETS);

/** docs/drafts.md says how many of the drafts are complete as well; here stands what may never happen. */
describe('the built-in runner', () => {
  const results = new Map<string, Result>();
  const assistant = builtinAssistant();
  beforeAll(async () => {
    await runCases(cases, assistant, (result) => results.set(result.instruction.id, result));
  });
  afterAll(() => assistant.close());

  const graveOf = (id: string) =>
    results
      .get(id)!
      .findings.filter(({ check }) => GRAVE.includes(check))
      .map(({ check, message }) => `${CHECKS[check]}: ${message}`);

  it.each(cases)('invents nothing, garbles nothing and finds every address in $id', ({ id }) => {
    expect(results.get(id)?.draft).toBeDefined();
    expect(graveOf(id)).toEqual([]);
  });
});
