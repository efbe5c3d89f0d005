import { TransitionTable } from '../../../platform/kernel/transition-table.js';
import type { PacketStatus } from './work-packet.entity.js';

export type PacketTrigger =
  | 'ask'
  | 'allow'
  | 'approve'
  | 'recall'
  | 'send'
  | 'execute'
  | 'retry'
  | 'fail'
  | 'deny'
  | 'cancel'
  | 'kill'
  | 'resume'
  | 'send_again'
  | 'send_after_revert'
  | 'confirm'
  | 'ask_override'
  | 'supersede'
  | 'revert';

/** The life of a work packet (CONTRACT, Work packet), printed to docs/reference/states.md. */
export const PACKET_STATES = new TransitionTable<PacketStatus, PacketTrigger>([
  {
    trigger: 'ask',
    from: ['drafted'],
    to: 'awaiting_approval',
    by: 'the guardian',
    when: 'A person is asked, because the directive requires it or no standing order allows it.',
  },
  {
    trigger: 'allow',
    from: ['drafted'],
    to: 'queued',
    by: 'the guardian',
    when: 'Standing orders allow every work packet of the draft, if only later.',
  },
  {
    trigger: 'approve',
    from: ['awaiting_approval'],
    to: 'queued',
    by: 'an operator',
    when: 'Its approval is approved.',
  },
  {
    trigger: 'recall',
    from: ['queued'],
    to: 'awaiting_approval',
    by: 'the guardian',
    when: 'Standing orders had allowed it and no longer do when it, or another one of the draft, is about to be sent.',
  },
  {
    trigger: 'send',
    from: ['queued', 'sending'],
    to: 'sending',
    by: 'its capo',
    when: 'A worker begins to carry it out; again if the process that began before has ended, or a mail has reached some of its recipients.',
  },
  {
    trigger: 'execute',
    from: ['queued', 'sending'],
    to: 'executed',
    by: 'its capo',
    when: 'It took effect.',
  },
  {
    trigger: 'retry',
    from: ['sending'],
    to: 'queued',
    by: 'its capo',
    when: 'It did not take effect, and another try may succeed.',
  },
  {
    trigger: 'fail',
    from: ['queued', 'sending'],
    to: 'failed',
    by: 'its capo',
    when: 'It did not take effect, or nobody can tell, and it is not tried again.',
  },
  {
    trigger: 'deny',
    from: ['drafted', 'queued'],
    to: 'denied',
    by: 'the guardian',
    when: 'A standing order denies it, when it is decided or when it is about to be sent.',
  },
  {
    trigger: 'cancel',
    from: ['drafted', 'awaiting_approval', 'queued', 'halted'],
    to: 'cancelled',
    by: 'the act that ends its directive',
    when: 'Its directive ends, or another draft is requested, before a worker began.',
  },
  {
    trigger: 'kill',
    from: ['queued', 'sending'],
    to: 'halted',
    by: 'an operator',
    when: 'The kill switch is engaged before a worker began, or stops it before it took effect.',
  },
  {
    trigger: 'resume',
    from: ['halted'],
    to: 'queued',
    by: 'an admin',
    when: 'A revert lifts the kill.',
  },
  {
    trigger: 'send_again',
    from: ['failed', 'sending'],
    to: 'queued',
    by: 'an operator',
    when: 'An escalation is decided so: it certainly did not leave, or a person says that it did not arrive.',
  },
  {
    trigger: 'send_after_revert',
    from: ['failed', 'sending'],
    to: 'halted',
    by: 'an operator',
    when: 'A person says that it did not arrive, while the kill switch is engaged.',
  },
  {
    trigger: 'confirm',
    from: ['failed', 'sending', 'queued', 'halted'],
    to: 'executed',
    by: 'an operator, or its capo',
    when: 'Nobody here could tell whether it arrived, and a person says that it did, or it becomes known late.',
  },
  {
    trigger: 'ask_override',
    from: ['denied', 'cancelled'],
    to: 'awaiting_approval',
    by: 'an operator',
    when: 'A budget denied it, or another one of the draft, and a person is asked to let it through once.',
  },
  {
    trigger: 'supersede',
    from: ['denied', 'failed'],
    to: 'cancelled',
    by: 'an operator',
    when: 'Another draft is requested of its directive, which ends as that one does. A failed one certainly did not leave.',
  },
  {
    trigger: 'revert',
    from: ['executed'],
    to: 'reverted',
    by: 'an admin',
    when: 'A revert that undoes what was carried out has undone it.',
  },
]);

/** Statuses in which it has left, or may have. */
export const HANDED_OUT: readonly PacketStatus[] = ['sending', 'executed', 'failed', 'reverted'];
