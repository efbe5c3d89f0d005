import { describe, expect, it } from 'vitest';
import { type AgentFacts, agentOf, statusOf } from '../../../src/features/agents/agents.reader.js';
import type { AgentStatus } from '../../../src/features/agents/agents.dto.js';
import type { Actor } from '../../../src/platform/auth/caller.js';

const NOW = Date.UTC(2026, 3, 1, 12);
const HOUR = 3_600_000;
const ADA: Actor = { type: 'member', id: 'mem_1', name: 'Ada', via: 'api' };

const idle: AgentFacts = {
  role: 'capo_ops',
  killed: false,
  killReason: null,
  pausedBy: null,
  pendingDirectives: 0,
  currentDirectiveId: null,
  readyApprovals: 0,
  completedToday: 0,
  lastExecutedAt: null,
  failures: [],
};
const failedAt = (...hours: number[]) => hours.map((ago) => ({ at: NOW - ago * HOUR, message: `no ${ago}` }));

describe('the status of an agent', () => {
  const killed = { killed: true };
  const paused = { pausedBy: ADA };
  const failing = { failures: failedAt(1, 2, 3) };
  const awaiting = { readyApprovals: 1 };
  const working = { currentDirectiveId: 'dir_1' };
  const cases: [string, Partial<AgentFacts>, AgentStatus][] = [
    ['halted before all others', { ...killed, ...paused, ...failing, ...awaiting, ...working }, 'halted'],
    ['paused before error', { ...paused, ...failing, ...awaiting, ...working }, 'paused'],
    ['error before awaiting-approval', { ...failing, ...awaiting, ...working }, 'error'],
    ['awaiting-approval before active', { ...awaiting, ...working }, 'awaiting-approval'],
    ['active while it works', working, 'active'],
    ['active when it executed within the last 24 hours', { lastExecutedAt: NOW - 24 * HOUR + 1 }, 'active'],
    ['idle when that is 24 hours ago', { lastExecutedAt: NOW - 24 * HOUR }, 'idle'],
    ['idle when it never worked', {}, 'idle'],
    ['idle after two failures', { failures: failedAt(1, 2) }, 'idle'],
    [
      'error when the last success came before all three failures',
      { ...failing, lastExecutedAt: NOW - 4 * HOUR },
      'error',
    ],
    [
      'active when a success came between the failures',
      { ...failing, lastExecutedAt: NOW - 2.5 * HOUR },
      'active',
    ],
    ['active when a success came after the failures', { ...failing, lastExecutedAt: NOW - 1 }, 'active'],
  ];
  it.each(cases)('is %s', (_name, facts, expected) => {
    expect(statusOf({ ...idle, ...facts }, NOW)).toBe(expected);
  });
});

describe('the reason of the status', () => {
  it.each<[Partial<AgentFacts>, string]>([
    [{ killed: true }, 'The kill switch is engaged.'],
    [{ killed: true, killReason: 'wrong prices' }, 'The kill switch is engaged: wrong prices'],
    [{ pausedBy: ADA }, 'Paused by Ada.'],
    [{ failures: failedAt(1, 2, 3) }, 'Its last three executions failed; the last one: no 1'],
    [{ readyApprovals: 1 }, 'One draft is waiting for approval.'],
    [{ readyApprovals: 4 }, '4 drafts are waiting for approval.'],
    [{ currentDirectiveId: 'dir_1' }, 'It is working.'],
    [{ lastExecutedAt: NOW - HOUR }, 'It worked within the last 24 hours.'],
    [{}, 'It has not worked within the last 24 hours.'],
  ])('%j: %s', (facts, reason) => {
    expect(agentOf({ ...idle, ...facts }, NOW).statusReason).toBe(reason);
  });
});
