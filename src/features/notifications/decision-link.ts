import { timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../../platform/secrets/secret-box.js';

/** What a link is bound to: whatever of it changes, the link of before opens nothing. */
export interface LinkBinding {
  workspaceId: string;
  linkId: string;
  memberId: string;
  approvalId: string;
  contentHash: string;
}

const TOKEN = /^([0-7][0-9a-hjkmnp-tv-z]{25})([0-9a-f]{64})$/;
const PURPOSE = 'decision links';

/**
 * The secret of a link: the id of its row and a code over everything that the row binds it to. It is kept nowhere, so nobody who
 * reads the database can decide by it, and nobody who writes there can make one.
 */
export function tokenOf(link: LinkBinding, secrets: SecretBox): string {
  return link.linkId.slice('lnk_'.length) + codeOf(link, secrets).toString('hex');
}

/** The id and the code of a text that is written like the secret of a link. */
export function readToken(text: string): { linkId: string; code: Buffer } | undefined {
  const [, id, code] = TOKEN.exec(text) ?? [];
  return id && code ? { linkId: `lnk_${id}`, code: Buffer.from(code, 'hex') } : undefined;
}

/** Whether the code is that of the link; in the same time whatever it is. */
export function isCodeOf(code: Buffer, link: LinkBinding, secrets: SecretBox): boolean {
  return timingSafeEqual(code, codeOf(link, secrets));
}

function codeOf({ workspaceId, linkId, memberId, approvalId, contentHash }: LinkBinding, secrets: SecretBox) {
  return secrets.code([workspaceId, linkId, memberId, approvalId, contentHash].join('\n'), PURPOSE);
}
