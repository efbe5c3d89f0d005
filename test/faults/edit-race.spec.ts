import { describeEditRace } from '../e2e/approvals/edit-race.js';

describeEditRace(1_000, 3_600_000);
