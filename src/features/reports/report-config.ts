import { nextRun } from './report-calendar.js';
import type { ReportConfigView } from './report-config.dto.js';
import type { Configured } from './report-configs.repository.js';
import { switchesOf } from './report.js';

export function configViewOf(config: Configured, now: number): ReportConfigView {
  const { sections, format, schedule, time, timezone, email, emailAddress, zone } = config;
  const next = nextRun(config, zone, now);
  return {
    sections: switchesOf(sections),
    delivery: { time, timezone, email, emailAddress },
    format,
    schedule,
    timezone: zone,
    nextReportAt: next === null ? null : new Date(next).toISOString(),
  };
}
