import type { Briefing, Draft } from '../../src/features/capos/briefing.js';
import { checkDraftBounds } from '../../src/features/capos/draft-bounds.js';
import { serveCalls } from '../../src/platform/processes/serve-calls.js';

/** A capo that does what the directive says, however bad for it. */
serveCalls(({ directive }: Briefing): Pick<Draft, 'summary' | 'body' | 'packets'> => {
  const draft = { summary: 'Ready.', body: 'Ready.', packets: [] };
  const kept: string[][] = [];
  switch (directive.text) {
    case 'loop':
      for (;;);
    case 'eat memory':
      for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => `${index}`));
    case 'crash':
      process.exit(1);
    case 'throw':
      throw new TypeError('A defect.');
    case 'write too much':
      checkDraftBounds({ ...draft, body: 'a'.repeat(1_000_000) });
  }
  return draft;
});
