// These go through every zone and every cell here (test/support/full-size.ts).
import '../platform/local-day.spec.js';
import '../platform/local-day-of-the-database.spec.js';
import '../reports/report-calendar.spec.js';
import '../security/matrix.spec.js';
import '../security/admin-matrix.spec.js';
