import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIRECTIVE_STATES } from '../../src/features/directives/directive-states.js';
import { PACKET_STATES } from '../../src/features/directives/packets/packet-states.js';
import { PACKET_STATUSES } from '../../src/features/directives/packets/work-packet.entity.js';
import { DIRECTIVE_STATUSES } from '../../src/features/terms/terms.js';
import type { TransitionTable } from '../../src/platform/kernel/transition-table.js';

/** CONTRACT, section 5: the statuses of a directive and of a work packet, in its words and order. */
const CONTRACT = {
  directive:
    'pending_approval queued executing sending executed failed rejected expired cancelled halted reverted'.split(
      ' ',
    ),
  packet: 'drafted awaiting_approval queued sending executed failed denied cancelled halted reverted'.split(
    ' ',
  ),
};

/**
 * Statuses that end the record (SPECIFICATION and CONTRACT name nothing that leads on from them). From `failed`, `denied` and
 * `cancelled` a work packet comes back only where a person decides an escalation so, or has another draft made.
 */
const FINAL = {
  directive: ['rejected', 'expired', 'cancelled', 'reverted'],
  packet: ['reverted'],
};

function reached<S extends string>(table: TransitionTable<S, string>, from: (S | null)[]): Set<S> {
  const known = new Set<S | null>(from);
  for (let size = -1; size !== known.size;) {
    size = known.size;
    for (const transition of table.transitions) {
      if (transition.from.some((status) => known.has(status))) known.add(transition.to);
    }
  }
  known.delete(null);
  return known as Set<S>;
}

describe('the states of a directive', () => {
  it('are those of the contract, each reached from its hand-in', () => {
    expect([...DIRECTIVE_STATUSES]).toEqual(CONTRACT.directive);
    const statuses = reached(DIRECTIVE_STATES, [null]);
    expect(CONTRACT.directive.filter((status) => !statuses.has(status as never))).toEqual([]);
  });

  it('lead on from what was carried out only by a revert, which ends them', () => {
    const onwards = DIRECTIVE_STATES.transitions.filter(({ from }) => from.includes('executed'));
    expect(onwards.map(({ trigger, to, by }) => [trigger, to, by])).toEqual([
      ['revert', 'reverted', 'an admin'],
    ]);
  });

  it('begin as the specification says: pending_approval when approval is wanted, which it is by default', () => {
    const begin = DIRECTIVE_STATES.transitions.filter(({ from }) => from.includes(null));
    expect(begin.map(({ trigger, to }) => [trigger, to])).toEqual([
      ['hand_in_for_approval', 'pending_approval'],
      ['hand_in', 'queued'],
    ]);
  });

  it('end where the contract names no way on', () => {
    const statuses = [...reached(DIRECTIVE_STATES, [null])];
    expect(statuses.filter((status) => DIRECTIVE_STATES.isFinal(status)).toSorted()).toEqual(
      FINAL.directive.toSorted(),
    );
  });

  it('lead on from a failure only when an operator asks for it, or what was carried out is undone', () => {
    const onwards = DIRECTIVE_STATES.transitions.filter(({ from }) => from.includes('failed'));
    expect(onwards.map(({ trigger, to, by }) => [trigger, to, by])).toEqual([
      ['retry_for_approval', 'pending_approval', 'an operator'],
      ['retry', 'queued', 'an operator'],
      ['send_again', 'sending', 'an operator'],
      ['confirm', 'executed', 'an operator'],
      ['ask_override', 'pending_approval', 'an operator'],
      ['revert', 'reverted', 'an admin'],
    ]);
  });

  it('let nothing leave without a person or the guardian', () => {
    const leaving = DIRECTIVE_STATES.transitions.filter(({ to }) => to === 'sending');
    expect(leaving.map(({ trigger, by }) => [trigger, by])).toEqual([
      ['allow', 'the guardian'],
      ['approve', 'an operator'],
      // Only what was under way before it was recalled ends; the rest is cancelled.
      ['drop_rest', 'an operator, or the system'],
      ['resume_sending', 'an admin'],
      // What had been allowed, and certainly did not leave or arrive.
      ['send_again', 'an operator'],
    ]);
  });

  it('are halted by a kill wherever work is on its way, and brought back by a revert', () => {
    expect(DIRECTIVE_STATES.sources('kill')).toEqual(['queued', 'executing', 'sending']);
    expect(DIRECTIVE_STATES.next('halted', 'resume')).toBe('queued');
    expect(DIRECTIVE_STATES.next('halted', 'resume_sending')).toBe('sending');
  });

  it('refuse what the table does not have, and say from where', () => {
    expect(() => DIRECTIVE_STATES.next('executed', 'approve')).toThrowError(
      expect.objectContaining({ name: 'INVALID_TRANSITION', details: { status: 'executed' } }),
    );
  });
});

describe('the states of a work packet', () => {
  it('are those of the contract, each reached from its draft', () => {
    expect([...PACKET_STATUSES]).toEqual(CONTRACT.packet);
    const statuses = reached(PACKET_STATES, ['drafted']);
    expect(CONTRACT.packet.filter((status) => !statuses.has(status as never))).toEqual([]);
  });

  it('end where the contract names no way on', () => {
    const statuses = [...reached(PACKET_STATES, ['drafted'])];
    expect(statuses.filter((status) => PACKET_STATES.isFinal(status)).toSorted()).toEqual(
      FINAL.packet.toSorted(),
    );
  });

  it('lead on from where it ended only by an operator', () => {
    const ended = ['failed', 'denied', 'cancelled'] as const;
    const onwards = PACKET_STATES.transitions.filter(({ from }) =>
      from.some((status) => ended.some((one) => one === status)),
    );
    expect(onwards.map(({ trigger, to, by }) => [trigger, to, by])).toEqual([
      ['send_again', 'queued', 'an operator'],
      ['send_after_revert', 'halted', 'an operator'],
      ['confirm', 'executed', 'an operator, or its capo'],
      ['ask_override', 'awaiting_approval', 'an operator'],
      ['supersede', 'cancelled', 'an operator'],
    ]);
  });

  it('never lead back to sending from where it was decided that it may not leave', () => {
    const barred = [
      'denied',
      'cancelled',
      'failed',
      'executed',
      'reverted',
      'awaiting_approval',
      'halted',
    ] as const;
    for (const status of barred) expect(PACKET_STATES.sources('send')).not.toContain(status);
  });
});

describe('the statements', () => {
  it('change a status nowhere but in the repositories that go by the tables', async () => {
    const files = (await readdir('src', { recursive: true })).filter((file) => file.endsWith('.ts'));
    expect(files.length).toBeGreaterThan(100);
    const changing: string[] = [];
    for (const file of files) {
      const text = await readFile(join('src', file), 'utf8');
      if (/update (directives|work_packets)\b[^;`]*?\bset\b/s.test(text)) changing.push(file);
    }
    expect(changing.toSorted()).toEqual([
      'features/directives/directives.repository.ts',
      'features/directives/packets/work-packets.repository.ts',
    ]);
  });
});
