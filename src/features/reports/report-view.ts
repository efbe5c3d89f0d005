import type { ReportEntity } from './report.entity.js';
import type { DailyReport } from './report.js';

/** A report that was made, as it is answered. */
export function viewOf(report: ReportEntity): DailyReport {
  return {
    reportId: report.reportId,
    date: report.date,
    timezone: report.zone,
    generatedAt: new Date(report.generatedAt).toISOString(),
    partial: false,
    currency: report.currency,
    headline: report.headline,
    sections: report.sections,
    customSections: report.customSections.map(({ directive: _directive, ...section }) => section),
    receiptRange: { from: report.fromSeq, to: report.toSeq },
    receiptHead: { seq: report.headSeq, hash: report.headHash },
  };
}
