import { createHmac } from 'node:crypto';

/** HMAC-SHA256 over the parts one after another; text, of the key too, stands for its UTF-8 bytes. */
export function hmacSha256(key: string | Uint8Array, ...parts: (string | Uint8Array)[]): Buffer {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}
