export { NO_ACTIONS, type ReportedAgent } from './agent-figures.js';
export { type ReportReceiptDetails, hashOfApproval, hashOfReport, hashOfText } from './countable-report.js';
export { MOST_LISTED, headlineOf, reportIdOf } from './daily-report.js';
export {
  COUNTED_ACTIONS,
  type CapoFigures,
  type CountedReceipt,
  type DayOfAgents,
  type DayOfGuardian,
  FiguresOfReceipts,
  type ReportFigures,
  type ReportedAct,
} from './report-figures.js';
