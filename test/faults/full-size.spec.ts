// These go through every zone and every cell here (test/support/full-size.ts).
for (const spec of [
  'platform/local-day',
  'platform/local-day-of-the-database',
  'reports/report-calendar',
  'security/matrix',
  'security/admin-matrix',
]) {
  await import(`../${spec}.spec.ts`);
}
