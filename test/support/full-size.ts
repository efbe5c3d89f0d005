/**
 * Set by `npm run test:faults`: the specs that test/faults/full-size.spec.ts runs once more go through everything then, and
 * otherwise through a few cases chosen for their difference (docs/decisions/0030).
 */
export const FULL_SIZE = process.env.FAULTS === '1';
