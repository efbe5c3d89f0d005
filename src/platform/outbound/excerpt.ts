import { cutText } from '../kernel/text.js';

/** Bytes of an answer that are kept (CONTRACT, Webhooks). */
const EXCERPT_BYTES = 2048;

/** Bytes that {@link excerptOf} looks at: one code point more than it keeps tells whether a grapheme ends there. */
export const EXCERPT_READ_BYTES = EXCERPT_BYTES + 4;

/** All control characters but the tab and the line break. */
// oxlint-disable-next-line no-control-regex -- removing control characters is the purpose
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * The beginning of what a server outside answered, as text that PostgreSQL stores and a terminal may show: at most
 * {@link EXCERPT_BYTES} of valid UTF-8. A line ends in a line break alone; what is not UTF-8, and each other control
 * character, becomes U+FFFD; a grapheme cut off at the end is left out. SMTP, webhooks, connectors and models alike.
 */
export function excerptOf(answer: Uint8Array | string): string {
  const bytes = typeof answer === 'string' ? new TextEncoder().encode(answer) : answer;
  const text = new TextDecoder()
    .decode(bytes.subarray(0, EXCERPT_READ_BYTES), { stream: true })
    .replaceAll('\r\n', '\n')
    .replace(CONTROLS, '\uFFFD');
  // U+FFFD is longer than the byte it stands for.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(EXCERPT_BYTES));
  return cutText(text, read, '');
}
