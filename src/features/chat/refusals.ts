import { referenceTo } from '../notifications/reference.js';
import type { RefusedAct } from './plain-message.js';

/** What a member does themselves, and where this installation explains it. */
const HOW: Readonly<Record<RefusedAct, readonly [string, ...[string, `${string}_${string}`][]]>> = {
  decide: [
    'The chat approves, rejects and edits nothing: that takes a decision of your own, on the complete draft. Decide through the API, or by the link in the mail about it.',
    ['How to read the draft', 'Approvals_read'],
    ['How to decide', 'Approvals_decide'],
  ],
  mode: [
    "The chat does not change the guardian's mode: an admin does.",
    ['How to change it', 'Guardian_setMode'],
  ],
  kill: [
    'The chat neither engages nor lifts the kill switch. Whoever may hand in directives engages it, at once; an admin lifts it again.',
    ['How to engage it', 'Guardian_kill'],
    ['How to lift it', 'Reverts_execute'],
  ],
  orders: [
    'The chat makes, changes, activates and pauses no standing orders. Do it yourself; each change is simulated first.',
    ['How to make one', 'StandingOrders_create'],
    ['How to activate one', 'StandingOrders_activate'],
  ],
  settings: [
    'The chat changes no settings, members, tokens or destinations: an admin does, in the admin area. If you meant work for a capo, say "ask marketing to …".',
    ['How to change settings', 'Settings_change'],
  ],
};

/** @param publicUrl where this installation is reached, and describes its operations */
export function refusalOf(acts: readonly RefusedAct[], publicUrl: string): string {
  return acts
    .flatMap((act) => {
      const [sentence, ...references] = HOW[act];
      return [
        sentence,
        ...references.map(([what, operation]) => `${what}: ${referenceTo(publicUrl, operation)}`),
      ];
    })
    .join('\n');
}
