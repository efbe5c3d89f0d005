const MONTHS = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec';
/** `Sun, 06 Nov 1994 08:49:37 GMT`, as everybody writes it. */
const IMF_DATE = new RegExp(String.raw`^[A-Z][a-z]{2}, \d{2} (${MONTHS}) \d{4} \d{2}:\d{2}:\d{2} GMT$`);
/** `Sunday, 06-Nov-94 08:49:37 GMT`, obsolete. */
const RFC850_DATE = new RegExp(
  String.raw`^[A-Z][a-z]{5,8}, (\d{2})-(${MONTHS})-(\d{2}) (\d{2}:\d{2}:\d{2}) GMT$`,
);
/** `Sun Nov  6 08:49:37 1994`, obsolete. */
const ASCTIME_DATE = new RegExp(
  String.raw`^[A-Z][a-z]{2} (${MONTHS}) ([ \d]\d) (\d{2}:\d{2}:\d{2}) (\d{4})$`,
);

/**
 * The seconds that a `Retry-After` field asks to wait, from `now` (Unix milliseconds): whole seconds or a date in one
 * of the three forms of RFC 9110. A date that has passed is 0; undefined for anything else.
 */
export function parseRetryAfter(value: string, now: number): number | undefined {
  const text = value.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text);
  const at = Date.parse(imfDate(text, now) ?? '');
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000));
}

/** The date in today's form; Date.parse alone would take dozens of others, and some of them in local time. */
function imfDate(text: string, now: number): string | undefined {
  if (IMF_DATE.test(text)) return text;
  const rfc850 = RFC850_DATE.exec(text);
  if (rfc850) {
    const [, day, month, shortYear, time] = rfc850;
    // RFC 9110, 5.6.7: a year that looks more than 50 years ahead is the last one with these digits.
    const thisYear = new Date(now).getUTCFullYear();
    const year = thisYear - (thisYear % 100) + Number(shortYear);
    return `${day} ${month} ${year > thisYear + 50 ? year - 100 : year} ${time} GMT`;
  }
  const asctime = ASCTIME_DATE.exec(text);
  return asctime ? `${asctime[2]} ${asctime[1]} ${asctime[4]} ${asctime[3]} GMT` : undefined;
}
