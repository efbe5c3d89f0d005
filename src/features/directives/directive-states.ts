import { TransitionTable } from '../../platform/kernel/transition-table.js';
import type { DirectiveStatus } from '../terms/index.js';

export type DirectiveTrigger =
  | 'hand_in_for_approval'
  | 'hand_in'
  | 'start'
  | 'ask'
  | 'allow'
  | 'approve'
  | 'recall'
  | 'drop_rest'
  | 'complete'
  | 'fail'
  | 'reject'
  | 'cancel'
  | 'expire'
  | 'kill'
  | 'retry_for_approval'
  | 'retry'
  | 'resume'
  | 'resume_sending'
  | 'send_again'
  | 'confirm'
  | 'ask_override'
  | 'revert';

/** Nothing of it has been handed out; of a halted one a part may have been, which the ending act checks. */
const UNSENT = ['pending_approval', 'queued', 'executing', 'halted'] as const;

/** The life of a directive (CONTRACT, Directive), printed to docs/reference/states.md. */
export const DIRECTIVE_STATES = new TransitionTable<DirectiveStatus, DirectiveTrigger>([
  {
    trigger: 'hand_in_for_approval',
    from: [null],
    to: 'pending_approval',
    by: 'an operator, or a capo that delegates',
    when: 'It is handed in, and its output needs an approval.',
  },
  {
    trigger: 'hand_in',
    from: [null],
    to: 'queued',
    by: 'an operator',
    when: 'It is handed in with `requiresApproval: false`.',
  },
  {
    trigger: 'start',
    from: ['queued'],
    to: 'executing',
    by: 'its capo',
    when: 'Its capo begins to draft.',
  },
  {
    trigger: 'ask',
    from: ['executing'],
    to: 'pending_approval',
    by: 'the guardian',
    when: 'No standing order allows a work packet of the draft, so a person is asked.',
  },
  {
    trigger: 'allow',
    from: ['executing'],
    to: 'sending',
    by: 'the guardian',
    when: 'Standing orders allow every work packet of the draft, if only later.',
  },
  {
    trigger: 'approve',
    from: ['pending_approval'],
    to: 'sending',
    by: 'an operator',
    when: 'Its approval is approved.',
  },
  {
    trigger: 'recall',
    from: ['sending'],
    to: 'pending_approval',
    by: 'the guardian',
    when: 'A work packet that standing orders had allowed is no longer allowed when it is about to be sent.',
  },
  {
    trigger: 'drop_rest',
    from: ['pending_approval'],
    to: 'sending',
    by: 'an operator, or the system',
    when: 'It was recalled after a part had been sent, and the rest is rejected or expires; it ends as that part did.',
  },
  {
    trigger: 'complete',
    from: ['sending'],
    to: 'executed',
    by: 'its capo',
    when: 'Every work packet has been carried out.',
  },
  {
    trigger: 'fail',
    from: ['pending_approval', 'queued', 'executing', 'sending'],
    to: 'failed',
    by: 'its capo, or the guardian',
    when: 'No draft could be made, a draft holds nothing to carry out, a standing order denies it, or a work packet failed.',
  },
  {
    trigger: 'reject',
    from: ['pending_approval'],
    to: 'rejected',
    by: 'an operator',
    when: 'Its approval is rejected, without a request for another draft.',
  },
  {
    trigger: 'cancel',
    from: [...UNSENT, 'sending'],
    to: 'cancelled',
    by: 'an operator',
    when: 'It is cancelled before anything was sent; once it is released, only while all of it waits: standing orders delay it, or it is tried again later.',
  },
  {
    trigger: 'expire',
    from: [...UNSENT, 'sending'],
    to: 'expired',
    by: 'the system',
    when: 'Its deadline, or the time of its approval, passes before anything was sent.',
  },
  {
    trigger: 'kill',
    from: ['queued', 'executing', 'sending'],
    to: 'halted',
    by: 'an operator',
    when: 'The kill switch is engaged.',
  },
  {
    trigger: 'resume',
    from: ['halted'],
    to: 'queued',
    by: 'an admin',
    when: 'A revert lifts the kill that halted it while it was queued or executing.',
  },
  {
    trigger: 'resume_sending',
    from: ['halted'],
    to: 'sending',
    by: 'an admin',
    when: 'A revert lifts the kill that halted it while it was sending.',
  },
  {
    trigger: 'retry_for_approval',
    from: ['failed'],
    to: 'pending_approval',
    by: 'an operator',
    when: 'Another draft is requested after no draft could be made or it was denied, and its output needs an approval.',
  },
  {
    trigger: 'retry',
    from: ['failed'],
    to: 'queued',
    by: 'an operator',
    when: 'Another draft is requested in the same case, with `requiresApproval: false`.',
  },
  {
    trigger: 'send_again',
    from: ['failed'],
    to: 'sending',
    by: 'an operator',
    when: 'The escalation of a work packet that failed is decided so that the work packet is sent again.',
  },
  {
    trigger: 'confirm',
    from: ['failed'],
    to: 'executed',
    by: 'an operator',
    when: 'A person says that what nobody here could tell did arrive, and nothing else of it failed.',
  },
  {
    trigger: 'ask_override',
    from: ['failed'],
    to: 'pending_approval',
    by: 'an operator',
    when: 'A budget denied it, and a person is asked to let it through once.',
  },
  {
    trigger: 'revert',
    from: ['executed', 'failed', 'halted', 'sending'],
    to: 'reverted',
    by: 'an admin',
    when: 'A revert has undone everything of it that was carried out; what was still to be sent is cancelled.',
  },
]);

/** What only somebody who asks for it leads on from: another draft, or the undo. */
const ENDED: readonly DirectiveStatus[] = ['executed', 'failed'];

/** Whether nothing more comes of it unless somebody asks for it again. */
export function hasEnded(status: DirectiveStatus): boolean {
  return ENDED.includes(status) || DIRECTIVE_STATES.isFinal(status);
}

/** The statuses in which a capo may still draft. */
export const DRAFTING: readonly DirectiveStatus[] = ['pending_approval', 'queued', 'executing'];
