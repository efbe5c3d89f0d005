import type { Briefing, CapoRunner, Draft } from './briefing.js';
import { engineOf } from './capo.js';
import { checkDraft } from './draft-checks.js';
import type { ModelClient } from './model-client.js';
import { answerSchema, readAnswer } from './model-output.js';
import { dataFor, instructionsFor } from './model-prompt.js';
import { failedAfterPaying } from './paid.js';

/**
 * A capo that drafts with a language model. Its answer is checked against the registry, and for what it may have invented
 * or left open.
 */
export class ModelRunner implements CapoRunner {
  readonly perWorkspace = 4;

  constructor(private readonly model: ModelClient) {}

  async run(briefing: Briefing, options: { signal: AbortSignal }): Promise<Draft> {
    const engine = engineOf(briefing.directive.capo);
    const { answer, cost } = await this.model.ask(
      {
        workspaceId: briefing.workspace.workspaceId,
        name: 'draft',
        instructions: instructionsFor(briefing),
        data: dataFor(briefing),
        schema: answerSchema(engine, briefing.targets),
        read: (value) => readAnswer(engine, value, briefing.targets),
      },
      options,
    );
    const { provider: name, model } = this.model.options;
    const paid = { engine: { name, model }, cost };
    try {
      return { ...checkDraft(answer, briefing), ...paid };
    } catch (error) {
      throw failedAfterPaying(error, paid);
    }
  }
}
