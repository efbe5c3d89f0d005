import { dayAfter, dayOf, startOf } from '../../platform/kernel/local-day.js';
import { nextRun } from './report-calendar.js';
import type { ReportConfigView } from './report-config.dto.js';
import type { Configured } from './report-configs.repository.js';
import { switchesOf } from './report.js';

export function configViewOf(config: Configured, now: number): ReportConfigView {
  const { zone } = config;
  const { sections, format, schedule, time, timezone, email, emailAddress, memberIds } = config;
  // The day on which the workspace was made is the first to be reported, and over before its report is made.
  const firstDayEnds = startOf(dayAfter(dayOf(config.createdAt, zone), zone), zone);
  const next = nextRun(config, zone, Math.max(now, firstDayEnds - 1));
  return {
    sections: switchesOf(sections),
    delivery: { time, timezone, email, emailAddress, memberIds },
    format,
    schedule,
    timezone: zone,
    nextReportAt: next === null ? null : new Date(next).toISOString(),
  };
}
