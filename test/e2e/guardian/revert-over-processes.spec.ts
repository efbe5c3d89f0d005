import { describeRevert } from './revert-over-processes.js';

// A few; test/faults/revert.spec.ts undoes a thousand.
describeRevert({ packets: 48, anywhere: 2, unrecorded: 2 }, 180_000);
