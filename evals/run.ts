import type { Config } from '../src/platform/config/config.js';
import { type Briefing, type CapoRunner, type Draft, RunnerFailed } from '../src/features/capos/briefing.js';
import { BuiltinRunner } from '../src/features/capos/builtin-runner.js';
import { routeDirective } from '../src/features/consigliere/route.js';
import type { CapoRole, Cost } from '../src/features/terms/terms.js';
import { briefingOf } from './briefing.js';
import type { Case } from './case.js';
import { type Finding, findingsOf } from './scoring.js';

export interface Result {
  instruction: Case;
  capo: CapoRole;
  /** Undefined where the runner failed. */
  draft?: Draft;
  findings: Finding[];
  cost: Cost;
}

/** The runner that the environment asks for; it must be closed. */
export async function configuredRunner(
  config: Config,
): Promise<{ name: string; runner: CapoRunner; close: () => Promise<void> }> {
  if (config.modelProvider === 'builtin') {
    const runner = new BuiltinRunner();
    return { name: 'builtin', runner, close: () => runner.onApplicationShutdown() };
  }
  const [{ ModelClient }, { ModelRunner }] = await Promise.all([
    import('../src/features/capos/model-client.js'),
    import('../src/features/capos/model-runner.js'),
  ]);
  const { modelPriceInput: input, modelPriceOutput: output } = config;
  const model = new ModelClient({
    provider: config.modelProvider,
    baseUrl: config.modelBaseUrl,
    apiKey: config.modelApiKey,
    model: config.modelName!,
    prices: input === undefined || output === undefined ? undefined : { input, output },
    maxTokens: config.modelMaxTokens,
    timeoutMs: config.modelTimeoutSeconds * 1_000,
  });
  const runner = new ModelRunner(model);
  return { name: `${config.modelProvider} ${config.modelName}`, runner, close: async () => {} };
}

/** Tries all cases, as many at a time as the runner would take of one workspace; the results are in the order of the cases. */
export async function runCases(
  cases: readonly Case[],
  runner: CapoRunner,
  onResult: (result: Result) => void = () => {},
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < cases.length; at = next++) {
      const result = await runCase(cases[at]!, runner);
      results[at] = result;
      onResult(result);
    }
  };
  await Promise.all(Array.from({ length: runner.perWorkspace }, work));
  return results;
}

async function runCase(instruction: Case, runner: CapoRunner): Promise<Result> {
  const routedTo = instruction.capo === undefined ? routed(instruction) : undefined;
  const capo = instruction.capo ?? routedTo!;
  const briefing = briefingOf(instruction, capo);
  try {
    const draft = await runner.run(briefing, { signal: new AbortController().signal });
    const findings = findingsOf(instruction, { briefing, draft, ...(routedTo && { routedTo }) });
    return { instruction, capo, draft, findings, cost: draft.cost };
  } catch (error) {
    if (!(error instanceof RunnerFailed)) throw error;
    const message = `the runner failed (${error.code}): ${error.message}`;
    const nothing = {
      packets: [],
      concerns: [],
      remarks: message,
      engine: { name: error.code, model: null },
    };
    const findings: Finding[] = [
      { check: 'action', message },
      ...findingsOf(instruction, { briefing, draft: nothing, ...(routedTo && { routedTo }) }),
    ];
    return { instruction, capo, findings, cost: error.cost };
  }
}

function routed(instruction: Case): CapoRole {
  const { text, context = null } = instruction;
  const { standingOrders, directive }: Briefing = briefingOf(instruction, 'ceo');
  return routeDirective({ text, context, priority: directive.priority, standingOrders }).capo;
}
