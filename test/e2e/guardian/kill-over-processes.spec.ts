import { describeKill } from './kill-over-processes.js';

// Some kills of each kind; test/faults/kill-switch.spec.ts has hundreds.
describeKill({ sending: 5, approving: 2, elsewhere: 1, stopped: 1 }, 60_000);
