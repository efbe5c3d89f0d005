import { Inject, Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Unavailable } from '../../platform/kernel/errors.js';
import { MODEL, type ModelClient, type Paid, RunnerFailed, paidBefore } from '../capos/index.js';
import { NO_COST } from '../terms/index.js';
import { routingQuestion } from './model-routing.js';
import { routeDirective, type RouteRequest, type Routing } from './route.js';

export interface Routed extends Routing, Paid {
  /** The model that was asked; null when there is none. */
  model: string | null;
  /** Why the vocabulary decided although there is a model. */
  fallback: string | null;
}

/** Finds the capo a directive belongs to: by a model where one is configured, else, or when that fails, by its words. */
@Injectable()
export class Router {
  constructor(
    @Inject(MODEL) private readonly model: ModelClient | null,
    private readonly logger: PinoLogger,
  ) {}

  get asksModel(): boolean {
    return this.model !== null;
  }

  byWords(request: RouteRequest): Routed {
    return { ...routeDirective(request), model: null, fallback: null, engine: null, cost: NO_COST };
  }

  /** @throws RunnerFailed only when it was stopped */
  async byModel(workspaceId: string, request: RouteRequest, signal: AbortSignal): Promise<Routed> {
    const client = this.model!;
    const { provider: name, model } = client.options;
    const engine = { name, model };
    try {
      const question = routingQuestion(workspaceId, request);
      const { answer, cost } = await client.ask(question, { signal });
      return { ...answer, model, fallback: null, engine, cost };
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      const failed = error instanceof RunnerFailed ? error : undefined;
      if (failed?.code === 'aborted') throw failed;
      // A message may quote the directive; what is no failure of the model is a defect, and needs its stack.
      this.logger.warn(
        failed ? { workspaceId, code: failed.code } : { workspaceId, err: error },
        'a directive is routed by its words, since the model failed',
      );
      const fallback = failed?.message ?? 'An unexpected error occurred.';
      return { ...this.byWords(request), model, fallback, engine, cost: paidBefore(error).cost };
    }
  }
}
