import { describeEditRace } from './edit-race.js';

describeEditRace(60, 120_000);
