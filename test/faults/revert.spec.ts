import { describeRevert } from '../e2e/guardian/revert-over-processes.js';

describeRevert({ packets: 1_000, anywhere: 20, unrecorded: 12 }, 1_800_000);
