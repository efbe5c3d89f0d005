import { type Briefing, type CapoRunner, type Draft, RunnerFailed } from '../src/features/capos/briefing.js';
import { BuiltinRunner } from '../src/features/capos/builtin-runner.js';
import { withDangers } from '../src/features/capos/content-checks.js';
import { routingQuestion } from '../src/features/consigliere/router.js';
import { routeDirective, type RouteRequest } from '../src/features/consigliere/route.js';
import { type CapoRole, type Cost, NO_COST } from '../src/features/terms/terms.js';
import type { Config } from '../src/platform/config/config.js';
import { briefingOf } from './briefing.js';
import type { Case } from './case.js';
import { type Finding, findingsOf } from './scoring.js';

/** Who routes and drafts. */
export interface Assistant {
  name: string;
  runner: CapoRunner;
  route: (request: RouteRequest, briefing: Briefing) => Promise<{ capo: CapoRole; cost: Cost }>;
  close: () => Promise<void>;
}

export interface Result {
  instruction: Case;
  capo: CapoRole;
  /** Undefined where the runner failed. */
  draft?: Draft;
  findings: Finding[];
  /** Of routing and drafting. */
  cost: Cost;
}

const never = new AbortController().signal;
const byWords = (request: RouteRequest, cost = NO_COST) => ({ capo: routeDirective(request).capo, cost });

/** The one that the environment asks for; it must be closed. */
export function configuredAssistant(config: Config): Promise<Assistant> | Assistant {
  const { modelProvider: provider } = config;
  return provider === 'builtin' ? builtinAssistant() : modelAssistant(config, provider);
}

export function builtinAssistant(): Assistant {
  const runner = new BuiltinRunner();
  return {
    name: 'builtin',
    runner,
    route: async (request) => byWords(request),
    close: () => runner.onApplicationShutdown(),
  };
}

/** As the service has it, but for the budget, which belongs to a workspace. */
async function modelAssistant(
  config: Config,
  provider: Exclude<Config['modelProvider'], 'builtin'>,
): Promise<Assistant> {
  const [{ ModelClient }, { ModelRunner }] = await Promise.all([
    import('../src/features/capos/model-client.js'),
    import('../src/features/capos/model-runner.js'),
  ]);
  const { modelPriceInput: input, modelPriceOutput: output } = config;
  const model = new ModelClient({
    provider,
    baseUrl: config.modelBaseUrl,
    apiKey: config.modelApiKey,
    model: config.modelName!,
    prices: input === undefined || output === undefined ? undefined : { input, output },
    maxTokens: config.modelMaxTokens,
    timeoutMs: config.modelTimeoutSeconds * 1_000,
  });
  return {
    name: `${provider} ${config.modelName}`,
    runner: new ModelRunner(model),
    route: async (request, { workspace }) => {
      try {
        const question = routingQuestion(workspace.workspaceId, request);
        const { answer, cost } = await model.ask(question, { signal: never });
        return { capo: answer.capo, cost };
      } catch (error) {
        if (!(error instanceof RunnerFailed)) throw error;
        return byWords(request, error.cost);
      }
    },
    close: async () => {},
  };
}

/** Tries all cases, as many at a time as the runner takes of one workspace; the results are in the order of the cases. */
export async function runCases(
  cases: readonly Case[],
  assistant: Assistant,
  onResult: (result: Result) => void = () => {},
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < cases.length; at = next++) {
      const result = await runCase(cases[at]!, assistant);
      results[at] = result;
      onResult(result);
    }
  };
  await Promise.all(Array.from({ length: assistant.runner.perWorkspace }, work));
  return results;
}

async function runCase(instruction: Case, { runner, route }: Assistant): Promise<Result> {
  const { text, context = null, capo: given } = instruction;
  const unrouted = briefingOf(instruction, 'ceo');
  const request = {
    text,
    context,
    priority: unrouted.directive.priority,
    standingOrders: unrouted.standingOrders,
  };
  const routed = given === undefined ? await route(request, unrouted) : undefined;
  const capo = given ?? routed!.capo;
  const briefing = briefingOf(instruction, capo);
  const attempt = { briefing, ...(routed && { routedTo: capo }) };
  const cost = (drafting: Cost) => sum(routed?.cost ?? NO_COST, drafting);
  try {
    const draft = withDangers(await runner.run(briefing, { signal: never }), briefing);
    return {
      instruction,
      capo,
      draft,
      findings: findingsOf(instruction, { ...attempt, draft }),
      cost: cost(draft.cost),
    };
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
      ...findingsOf(instruction, { ...attempt, draft: nothing }),
    ];
    return { instruction, capo, findings, cost: cost(error.cost) };
  }
}

function sum(a: Cost, b: Cost): Cost {
  return {
    amount: a.amount + b.amount,
    currency: b.currency,
    tokensIn: a.tokensIn + b.tokensIn,
    tokensOut: a.tokensOut + b.tokensOut,
  };
}
