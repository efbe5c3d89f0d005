import { knownZone } from '../../platform/kernel/local-day.js';
import { cutText } from '../../platform/kernel/text.js';
import { CAPOS, isCapoRole } from '../capos/capo.js';

/** How answers show what others wrote, times, and words that programs use. */

const MAX_QUOTED = 160;

export function ofCapo(capo: string | null): string {
  return isCapoRole(capo) ? ` (${nameOfCapo(capo)})` : '';
}

export function nameOfCapo(capo: string): string {
  return isCapoRole(capo) ? CAPOS[capo].name : capo;
}

export const spoken = (status: string) => status.replaceAll('_', ' ');

/** One line in quotation marks, which nothing inside closes. */
export function quoted(text: string, most = MAX_QUOTED): string {
  return `“${cutText(text.replace(/\s+/g, ' ').trim(), most).replaceAll(/[“”]/g, '"')}”`;
}

export function timeIn(at: number, zone: string): string {
  const timeZone = knownZone(zone);
  const shown = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  }).format(at);
  return timeZone === zone ? shown : `${shown} ${timeZone}`;
}
