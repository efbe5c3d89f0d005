import { KINDS, LANGUAGES, SETS } from './case.js';
import type { Result } from './run.js';
import { CHECK_NAMES, CHECKS, type Check, type Finding, GRAVE } from './scoring.js';

const passes = ({ findings }: Result, check: Check) => !findings.some((finding) => finding.check === check);
const isFlawless = ({ findings }: Result) => findings.length === 0;
/** Can be approved as it is. */
const isReady = ({ draft }: Result) =>
  draft !== undefined &&
  draft.packets.length > 0 &&
  draft.packets.every(({ needsInput }) => needsInput.length === 0);
/** One can be approved, although it differs from what it should be. */
const isReadyAndWrong = (result: Result) => isReady(result) && !isFlawless(result);

/** Cases in which the built-in runner did what it must never do. */
export function graveResults(results: readonly Result[]): Result[] {
  return results.filter(({ findings }) => findings.some(({ check }) => GRAVE.includes(check)));
}

/** One line for a case, and one for each thing that differed. */
export function linesOf(result: Result): string[] {
  const { instruction, capo, findings } = result;
  const checks = CHECK_NAMES.map((check) => `${CHECKS[check]}: ${passes(result, check) ? 'yes' : 'NO '}`);
  return [
    `${instruction.id.padEnd(9)} ${instruction.kind.padEnd(11)} ${capo.padEnd(14)} ${checks.join('  ')}`,
    ...messagesOf(findings).map((message) => {
      const broken = findings.filter((each) => each.message === message).map(({ check }) => CHECKS[check]);
      return `            ${broken.join(', ')}: ${message}`;
    }),
  ];
}

/** Totals by set, kind and language, as a table of Markdown. */
export function totals(results: readonly Result[]): string {
  const groups: [name: string, results: Result[]][] = [
    ['all', [...results]],
    ...SETS.map((set): [string, Result[]] => [
      set,
      results.filter(({ instruction }) => instruction.set === set),
    ]),
    ...KINDS.map((kind): [string, Result[]] => [
      kind,
      results.filter(({ instruction }) => instruction.kind === kind),
    ]),
    ...LANGUAGES.map((language): [string, Result[]] => [
      LANGUAGE_NAMES[language],
      results.filter(({ instruction }) => instruction.language === language),
    ]),
  ];
  return table(
    [
      '',
      'cases',
      ...CHECK_NAMES.map((check) => CHECKS[check]),
      'all of these',
      'ready as it is',
      'ready, but not right',
    ],
    groups
      .filter(([, each]) => each.length > 0)
      .map(([name, each]) => [
        name,
        String(each.length),
        ...CHECK_NAMES.map((check) => String(each.filter((result) => passes(result, check)).length)),
        String(each.filter(isFlawless).length),
        String(each.filter(isReady).length),
        String(each.filter(isReadyAndWrong).length),
      ]),
    ['---', ...Array.from({ length: CHECK_NAMES.length + 4 }, () => '---:')],
  );
}

const LANGUAGE_NAMES = { en: 'English', de: 'German', fr: 'French', es: 'Spanish' } as const;

/** Everything for docs/drafts.md: the totals, and by set which cases are as expected and which rule each other one breaks. */
export function markdown(results: readonly Result[]): string {
  const lists = SETS.map((set) => {
    const ofSet = results.filter(({ instruction }) => instruction.set === set);
    const outcomes: [name: string, results: Result[]][] = [
      ['as expected', ofSet.filter(isFlawless)],
      ...CHECK_NAMES.map((check): [string, Result[]] => [
        `not ${CHECKS[check]}`,
        ofSet.filter((result) => !passes(result, check)),
      ]),
    ];
    const lines = outcomes
      .filter(([, each]) => each.length > 0)
      .map(([name, each]) => `- ${name}: ${each.map(({ instruction }) => instruction.id).join(', ')}`);
    return `### ${set}\n\n${lines.join('\n')}`;
  });
  return [totals(results), ...lists].join('\n\n');
}

/** Each once, though it may break several rules. */
const messagesOf = (findings: readonly Finding[]) => [...new Set(findings.map(({ message }) => message))];

function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  rule: readonly string[],
): string {
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
