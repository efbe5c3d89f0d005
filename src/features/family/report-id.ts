import { createHash } from 'node:crypto';
import { decodeTime, encodeTime } from 'ulid';
import type { Audience } from '../workspaces/audience.js';

const ID = /^rpt_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_PART = 16;
const DAY_MS = 86_400_000;

/**
 * The id of a family report: the same for the same day of the same workspace and audience, whoever asks and however often, so
 * that a read needs to write nothing. It begins like any other id of that day.
 */
export function familyReportIdOf(workspaceId: string, date: string, audience: Audience): string {
  const digest = createHash('sha256')
    .update(`family report ${workspaceId} ${date} ${keyOf(audience)}`)
    .digest();
  let letters = '';
  for (let at = 0; at < RANDOM_PART; at++) letters += ALPHABET[digest[at]! % ALPHABET.length];
  return `rpt_${encodeTime(Date.parse(date), 10).toLowerCase()}${letters}`;
}

/** The day that an id of a family report names; undefined for what is none. */
export function dateOfReport(reportId: string): string | undefined {
  if (!ID.test(reportId)) return undefined;
  const at = decodeTime(reportId.slice('rpt_'.length).toUpperCase());
  return at % DAY_MS === 0 && at <= LAST_DAY ? new Date(at).toISOString().slice(0, 10) : undefined;
}

/** 31 December 9999, the last day with a year of four digits. */
const LAST_DAY = 253_402_214_400_000;

function keyOf(audience: Audience): string {
  if (audience === 'all') return 'all';
  return audience.length === 0 ? 'none' : audience.join(' ');
}
