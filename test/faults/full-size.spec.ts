// These go through every zone and every cell here (test/support/full-size.ts).
await import('../platform/local-day.spec.js');
await import('../platform/local-day-of-the-database.spec.js');
await import('../reports/report-calendar.spec.js');
await import('../schedules/schedule-rule.spec.js');
await import('../security/matrix.spec.js');
await import('../security/admin-matrix.spec.js');
// 1,000 approvals that wait, and 100,000 receipts.
await import('../clients/dashboard/load.spec.js');
// Over 500 requests of agents under random orders.
await import('../e2e/action-requests/agreement.spec.js');
