import { cutText } from '../kernel/text.js';

/** Bytes of an answer that are kept (CONTRACT, Webhooks). */
const EXCERPT_BYTES = 2048;

/** Bytes that {@link excerptOf} looks at: one code point more than it keeps tells whether a grapheme ends there. */
export const EXCERPT_READ_BYTES = EXCERPT_BYTES + 4;

/**
 * The beginning of an answer as text that PostgreSQL stores: at most {@link EXCERPT_BYTES} of valid UTF-8. What is not
 * UTF-8, and NUL, becomes U+FFFD; a grapheme cut off at the end is left out.
 */
export function excerptOf(bytes: Uint8Array): string {
  const text = new TextDecoder()
    .decode(bytes.subarray(0, EXCERPT_READ_BYTES), { stream: true })
    .replaceAll('\0', '\uFFFD');
  // U+FFFD is longer than the byte it stands for.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(EXCERPT_BYTES));
  return cutText(text, read, '');
}
