import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../../platform/config/config.js';
import { ActionReversibility } from '../standing-orders/action-reversibility.js';
import { StandingOrdersModule } from '../standing-orders/standing-orders.module.js';
import { ACTION_TYPES } from './action-types.js';
import type { CapoRunner } from './briefing.js';
import { BriefingReader } from './briefing.reader.js';
import { BuiltinRunner } from './builtin-runner.js';
import { engineOf } from './capo.js';
import type { ModelPrices } from './model-cost.js';
import { PausedCapoEntity } from './paused-capo.entity.js';
import { PausedCapos } from './paused-capos.repository.js';

/** Who makes the drafts: the built-in runner, or a model. */
export const CAPO_RUNNER = Symbol('CapoRunner');

function pricesOf({ modelPriceInput: input, modelPriceOutput: output }: Config): ModelPrices | undefined {
  return input === undefined || output === undefined ? undefined : { input, output };
}

/** @level 5 */
@Module({
  imports: [TypeOrmModule.forFeature([PausedCapoEntity]), StandingOrdersModule],
  providers: [
    PausedCapos,
    BriefingReader,
    {
      provide: CAPO_RUNNER,
      inject: [Config],
      useFactory: async (config: Config): Promise<CapoRunner> => {
        if (config.modelProvider === 'builtin') return new BuiltinRunner();
        // The provider's packages are only loaded by those who use one.
        const { createModelRunner } = await import('./model-runner.js');
        return createModelRunner({
          provider: config.modelProvider,
          baseUrl: config.modelBaseUrl,
          apiKey: config.modelApiKey,
          model: config.modelName!,
          prices: pricesOf(config),
        });
      },
    },
  ],
  exports: [PausedCapos, BriefingReader, CAPO_RUNNER],
})
export class CaposModule {
  /** Standing orders must know which action types cannot be undone, and lie below this feature. */
  constructor(reversibility: ActionReversibility) {
    reversibility.register(ACTION_TYPES, engineOf);
  }
}
