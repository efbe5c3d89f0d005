import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Alarms } from './alarms.js';

const gone: string[] = [];
let alarms: Alarms;
beforeEach(() => {
  vi.useFakeTimers();
  gone.length = 0;
  alarms = new Alarms((name) => gone.push(name));
});
afterEach(() => vi.useRealTimers());

describe('an alarm', () => {
  it('goes off once, after its time and never before', () => {
    alarms.set('a', 100);
    vi.advanceTimersByTime(100);
    expect(gone).toEqual([]);
    vi.advanceTimersByTime(10);
    expect(gone).toEqual(['a']);
    vi.advanceTimersByTime(1_000);
    expect(gone).toEqual(['a']);
  });

  it('that is set again under its name counts alone; others stay', () => {
    alarms.set('a', 100);
    alarms.set('b', 100);
    alarms.set('a', 500);
    vi.advanceTimersByTime(110);
    expect(gone).toEqual(['b']);
    vi.advanceTimersByTime(400);
    expect(gone).toEqual(['b', 'a']);
  });

  it('does not go off when it was cleared', () => {
    alarms.set('a', 100);
    alarms.clear();
    vi.advanceTimersByTime(1_000);
    expect(gone).toEqual([]);
  });
});
