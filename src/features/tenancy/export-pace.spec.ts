import { describe, expect, it } from 'vitest';
import { ExportOverdue, ExportPace } from './export-workspace.js';

const MB = 1_000_000;

describe('the pace of an export', () => {
  it('is free while little time was lost to the reader', () => {
    expect(() => new ExportPace(0).taken(0, 0, 60_000)).not.toThrow();
  });

  it('ends with a reader who takes a page a minute', () => {
    const pace = new ExportPace(0);
    pace.taken(MB, 0, 59_000);
    expect(() => pace.taken(MB, 59_000, 118_000)).toThrow(ExportOverdue);
  });

  it('goes on with a reader who takes a page each ten seconds', () => {
    const pace = new ExportPace(0);
    const takeAll = () => {
      for (let at = 0; at < 1_790_000; at += 10_000) pace.taken(MB, at, at + 10_000);
    };
    expect(takeAll).not.toThrow();
  });

  it('is not that of the database, whose time is not the time of the reader', () => {
    expect(() => new ExportPace(0).taken(1, 600_000, 600_001)).not.toThrow();
  });

  it('ends after 30 minutes, however fast the reader is', () => {
    const pace = new ExportPace(0);
    pace.taken(MB, 1_800_000, 1_800_000);
    expect(() => pace.taken(MB, 1_800_001, 1_800_001)).toThrow(ExportOverdue);
  });
});
