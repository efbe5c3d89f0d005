import { CAPO_RUNNER } from '../../src/features/capos/capos.module.js';
import type { CapoRunner, Draft, DraftContent, DraftPacket } from '../../src/features/capos/briefing.js';
import { NO_COST } from '../../src/features/terms/terms.js';
import type { TestApp } from './test-app.js';

/** A work packet of a draft, with what most of them have in common. */
export function draftPacket(
  packet: Pick<DraftPacket, 'type' | 'params'> & Partial<DraftPacket>,
): DraftPacket {
  return {
    title: 'In the words of the runner',
    target: '',
    rationale: 'The directive asks for it.',
    multipliers: {},
    needsInput: [],
    ...packet,
  };
}

export const MAIL_TO_JANE = draftPacket({
  type: 'email.send',
  params: {
    to: ['jane@acme.example'],
    subject: 'Your delivery',
    body: 'Hello Jane, it arrives on Friday.',
  },
});

/** Drafts that a test has written, each answered for the directive whose text names it. */
export class ScriptedRunner {
  readonly #drafts = new Map<string, Partial<DraftContent>>();
  #engine: Draft['engine'] = { name: 'builtin', model: null };

  /** Takes the place of the runner of the application. */
  constructor(readonly test: TestApp) {
    const runner = test.app.get<CapoRunner>(CAPO_RUNNER);
    runner.run = ({ directive }) => {
      const draft = this.#drafts.get(directive.text) ?? { packets: [MAIL_TO_JANE] };
      const content = { remarks: '', packets: [], concerns: [], ...draft };
      return Promise.resolve({ ...content, engine: this.#engine, cost: NO_COST });
    };
  }

  /** Answers this draft for directives with this text. */
  answer(text: string, draft: Partial<DraftContent>): void {
    this.#drafts.set(text, draft);
  }

  /** Drafts in the name of a model. */
  asModel(model: string): void {
    this.#engine = { name: 'openai-compatible', model };
  }
}
