import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { PinoLogger } from 'nestjs-pino';
import { Config } from '../../platform/config/config.js';
import { Clock } from '../../platform/kernel/clock.js';
import { ConnectorsModule } from '../connectors/index.js';
import { RecordsModule } from '../records/index.js';
import { ActionReversibility, StandingOrdersModule } from '../standing-orders/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { ACTION_TYPES } from './action-types.js';
import type { CapoRunner } from './briefing.js';
import { BriefingReader, CapoSkills, DraftingStates, OutsideTargetsReader } from './briefing.reader.js';
import { BuiltinRunner } from './builtin-runner.js';
import { engineOf } from './capo.js';
import { ModelBudget } from './model-budget.js';
import { ModelBudgets, PausedCapos } from './model-budgets.repository.js';
import { ModelChargeEntity, PausedCapoEntity } from './capos.entity.js';
import type { ModelClient, ModelPrices } from './model-client.js';

/** Who makes the drafts: the built-in runner, or a model. */
export const CAPO_RUNNER = Symbol('CapoRunner');
/** The configured language model (`ModelClient`); null with the built-in runner. */
export const MODEL = Symbol('Model');

function pricesOf({ modelPriceInput: input, modelPriceOutput: output }: Config): ModelPrices | undefined {
  return input === undefined || output === undefined ? undefined : { input, output };
}

/** @level 5 */
@Module({
  imports: [
    TypeOrmModule.forFeature([PausedCapoEntity, ModelChargeEntity]),
    StandingOrdersModule,
    RecordsModule,
    ConnectorsModule,
    WebhooksModule,
  ],
  providers: [
    PausedCapos,
    OutsideTargetsReader,
    BriefingReader,
    CapoSkills,
    DraftingStates,
    ModelBudget,
    ModelBudgets,
    {
      provide: MODEL,
      inject: [Config, Clock, ModelBudget, PinoLogger],
      useFactory: async (
        config: Config,
        clock: Clock,
        budget: ModelBudget,
        logger: PinoLogger,
      ): Promise<ModelClient | null> => {
        if (config.modelProvider === 'builtin') return null;
        // What speaks to a provider is only loaded by those who use one.
        const { ModelClient: Client } = await import('./model-client.js');
        return new Client({
          provider: config.modelProvider,
          baseUrl: config.modelBaseUrl,
          apiKey: config.modelApiKey,
          model: config.modelName!,
          prices: pricesOf(config),
          maxTokens: config.modelMaxTokens,
          timeoutMs: config.modelTimeoutSeconds * 1_000,
          budget,
          warn: (message) => logger.warn(message),
          now: () => clock.now(),
        });
      },
    },
    {
      provide: CAPO_RUNNER,
      inject: [MODEL],
      useFactory: async (model: ModelClient | null): Promise<CapoRunner> => {
        if (model === null) return new BuiltinRunner();
        const { ModelRunner } = await import('./model-runner.js');
        return new ModelRunner(model);
      },
    },
  ],
  exports: [
    OutsideTargetsReader,
    PausedCapos,
    BriefingReader,
    DraftingStates,
    ModelBudget,
    CapoSkills,
    CAPO_RUNNER,
    MODEL,
  ],
})
export class CaposModule {
  /** Standing orders must know which action types cannot be undone, and lie below this feature. */
  constructor(reversibility: ActionReversibility) {
    reversibility.register(ACTION_TYPES, engineOf);
  }
}
