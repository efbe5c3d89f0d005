/** A signed point of the chain: a kept one proves that the chain was cut or rewritten. */
export class CheckpointView {
  /** The workspace whose chain it signs. @example 'wks_01kerpxzm02h8rz4dtvnsqab5g' */
  workspaceId!: string;
  /** The number of the last receipt that it covers. @example 1204 */
  seq!: number;
  /**
   * The hash of that receipt, in hex.
   * @example 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa'
   */
  hash!: string;
  /** When it was signed, Unix milliseconds. @example 1771401720000 */
  signedAt!: number;
  /** The key that signed it, one of `GET /audit-feed/keys`. @example '9deb65b8788f41ff' */
  keyId!: string;
  /**
   * Ed25519 over the canonical JSON of hash, seq, signedAt and workspaceId; base64url.
   * @example '3Xz5mJ0c2bqkz7o0l8mX2rQ4vT9yB1nW6hE5dS3fG7aK8uLpC0iR4jN2xV6tYwZqM1oU9sH5eD7gF3bA8kP2Cg'
   */
  signature!: string;
}

export class ChainHead {
  /** The number of the last receipt; 0 before the first one. @example 1204 */
  seq!: number;
  /**
   * The hash of the last receipt, in hex. Keep a copy elsewhere.
   * @example 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa'
   */
  hash!: string;
  /**
   * When the last receipt was written, Unix milliseconds; null before the first one.
   * @example 1771401690000
   */
  at!: number | null;
  /** The newest signed checkpoint; null before the first one. */
  checkpoint!: CheckpointView | null;
}

export class SigningKeyView {
  /** The id of the key. @example '9deb65b8788f41ff' */
  keyId!: string;
  /** The algorithm of the signatures. @example 'Ed25519' */
  algorithm!: 'Ed25519';
  /**
   * The public key, SPKI in PEM.
   * @example '-----BEGIN PUBLIC KEY----- MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE= -----END PUBLIC KEY-----'
   */
  publicKey!: string;
  /** When it was made, Unix milliseconds. @example 1768208400000 */
  createdAt!: number;
  /** The id of the key before this one; null for the first. */
  signedBy!: string | null;
  /**
   * Ed25519 by the key before it, over the canonical JSON of createdAt, keyId, publicKey and signedBy; base64url. Null
   * for the first.
   */
  signature!: string | null;
}

export class SigningKeyList {
  /** The trusted keys, oldest first; `GET /audit-feed/verify` names those that are not. */
  keys!: SigningKeyView[];
}
