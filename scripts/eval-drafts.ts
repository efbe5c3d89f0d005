/**
 * Tries the published instructions (evals/README.md) on the runner that the environment asks for, the built-in one unless
 * MODEL_PROVIDER names another, and prints what each draft got right. The exit code is 1 when the built-in runner
 * invented or garbled anything, or wrote to anybody it should not or missed somebody it should.
 *
 * Built with the service, run from the project's folder:
 * node dist/scripts/eval-drafts.js [--set dev|held-out|fresh|all] [--only <id>] [--json <file>] [--write <file> [--check]]
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { CasesInvalid, loadCases, SETS } from '../evals/case.js';
import { graveResults, linesOf, markdown, totals } from '../evals/report.js';
import { configuredAssistant, type Result, runCases } from '../evals/run.js';
import { loadConfig } from '../src/platform/config/config.js';
import { StartRefused } from '../src/platform/kernel/start-refused.js';

const BEGIN = '<!-- results:begin -->';
const END = '<!-- results:end -->';

const { values: options } = parseArgs({
  options: {
    set: { type: 'string', default: 'all' },
    only: { type: 'string' },
    /** The drafts and the findings, whole. */
    json: { type: 'string' },
    /** Into this file, between its markers. */
    write: { type: 'string' },
    /** With `write`: writes nothing, and exits 1 when it would change the file. */
    check: { type: 'boolean', default: false },
  },
});

class Refused extends Error {}

try {
  await main();
} catch (error) {
  const isTheirs = [Refused, CasesInvalid, StartRefused].some((type) => error instanceof type);
  if (!isTheirs) throw error;
  console.error((error as Error).message);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const sets = SETS.filter((set) => options.set === 'all' || options.set === set);
  if (sets.length === 0)
    throw new Refused(`There is no set “${options.set}”: use ${SETS.join(', ')} or all.`);
  const whole = sets.length === SETS.length && options.only === undefined;
  if (options.write !== undefined && !whole) throw new Refused('--write needs all cases.');
  const cases = (await loadCases('evals', sets)).filter(
    ({ id }) => options.only === undefined || id === options.only,
  );
  if (cases.length === 0) throw new Refused(`There is no case ${options.only} in ${sets.join(' and ')}.`);

  const config = loadConfig();
  if (options.write !== undefined && config.modelProvider !== 'builtin')
    throw new Refused('--write is for the results of the built-in runner: unset MODEL_PROVIDER.');
  const assistant = await configuredAssistant(config);
  const say = (line: string) => {
    if (!options.check) console.log(line);
  };
  say(`Instructions: ${cases.length}, drafted by ${assistant.name}\n`);
  let results: Result[];
  try {
    results = await runCases(cases, assistant, (result) => {
      for (const line of linesOf(result)) say(line);
    });
  } finally {
    await assistant.close();
  }
  if (options.only !== undefined) say(JSON.stringify(results[0]?.draft ?? null, undefined, 2));
  say(`\n${totals(results)}`);
  const cost = results.reduce((sum, { cost: { amount } }) => sum + amount, 0);
  if (cost > 0) say(`\n${cost.toFixed(4)} USD`);

  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(results, undefined, 2)}\n`);
  if (options.write !== undefined) await writeBetweenMarkers(options.write, markdown(results));
  const grave = config.modelProvider === 'builtin' ? graveResults(results) : [];
  if (grave.length > 0) {
    const ids = grave.map(({ instruction }) => instruction.id).join(', ');
    console.error(
      `\nThe built-in runner may never invent, garble, or write to the wrong people, and did in: ${ids}`,
    );
    process.exitCode = 1;
  }
}

async function writeBetweenMarkers(file: string, text: string): Promise<void> {
  const current = await readFile(file, 'utf8');
  const [begin, end] = [current.indexOf(BEGIN), current.indexOf(END)];
  if (begin < 0 || end < begin) throw new Refused(`${file} needs the lines ${BEGIN} and ${END}`);
  const body = `\n\n<!-- prettier-ignore-start -->\n\n${text}\n\n<!-- prettier-ignore-end -->\n\n`;
  const wanted = current.slice(0, begin + BEGIN.length) + body + current.slice(end);
  if (wanted === current) return;
  if (!options.check) {
    await writeFile(file, wanted);
    return;
  }
  console.error(`${file} is not what npm run eval:drafts -- --write ${file} would write.`);
  process.exitCode = 1;
}
