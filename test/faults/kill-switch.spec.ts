import { describeKill } from '../e2e/guardian/kill-over-processes.js';

describeKill({ sending: 300, approving: 40, elsewhere: 30, stopped: 20 }, 3_600_000);
