// Loaded into the processes of the revert's test before the program itself: compensations of the types `test.repeatable` and
// `test.once` are HTTP requests to UNDO_URL, which names the process that makes them.
import { Compensations } from '../../../dist/src/features/directives/packets/compensations.js';
import { EffectFailed } from '../../../dist/src/features/directives/packets/packet-effects.js';

const known = Object.getOwnPropertyDescriptor(Compensations.prototype, 'of').value;

Compensations.prototype.of = function of(workspaceId, compensation) {
  const repeatable = compensation.type === 'test.repeatable';
  if (!repeatable && compensation.type !== 'test.once') {
    return Reflect.apply(known, this, [workspaceId, compensation]);
  }
  const run = async ({ workPacketId }, signal) => {
    try {
      const headers = {
        'idempotency-key': workPacketId,
        'x-pid': String(process.pid),
        'x-type': compensation.type,
      };
      const response = await fetch(process.env.UNDO_URL, { method: 'POST', headers, signal });
      return { status: response.status };
    } catch {
      throw new EffectFailed('UNANSWERED', 'Nothing has answered.', repeatable);
    }
  };
  return Promise.resolve({ kind: 'outside', repeatable, run });
};
