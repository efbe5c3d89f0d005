import type { Briefing, DraftContent } from '../../src/features/capos/briefing.js';
import { checkDraftBounds } from '../../src/features/capos/draft-bounds.js';
import { serveCalls } from '../../src/platform/processes/serve-calls.js';

/** A capo that does what the directive says, however bad for it. */
serveCalls(({ directive }: Briefing): DraftContent => {
  const draft = { remarks: 'Ready.', packets: [], concerns: [] };
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
      checkDraftBounds({ ...draft, remarks: 'a'.repeat(1_000_000) });
  }
  return draft;
});
