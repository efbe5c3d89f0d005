import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { InvalidSignature } from '../kernel/errors.js';
import { isBodySignature } from '../signatures/body-signature.js';

/** For which workspace a body says that it is, and what could have signed it if that is so. */
export interface SignatureClaim {
  workspaceId: string;
  secrets: readonly string[];
}

/** How requests to routes with `auth: 'signature'` are signed. */
export interface SignatureScheme {
  /** The header that carries the signature, in lower case. */
  header: string;
  /**
   * The claim of a body that nobody has vouched for yet. A body that names no workspace, or one that does not exist, is
   * answered with secrets that nobody has and after the same work, so that neither the answer nor its time tells which
   * workspaces exist.
   */
  claimOf(rawBody: Buffer): Promise<SignatureClaim>;
}

/** Verifies signed requests (SPECIFICATION, Authentication 5); the feature that knows the secrets registers its scheme. */
@Injectable()
export class SignedRequests {
  #scheme: SignatureScheme | undefined;

  register(scheme: SignatureScheme): void {
    if (this.#scheme) throw new Error('signed requests have a scheme already');
    this.#scheme = scheme;
  }

  /**
   * The workspace whose secret signed these bytes.
   * @throws InvalidSignature, whatever it is that does not fit
   */
  async verify(headers: IncomingHttpHeaders, rawBody: Buffer): Promise<string> {
    if (!this.#scheme) throw new Error('a route takes signed requests, and nobody knows the secrets');
    const { workspaceId, secrets } = await this.#scheme.claimOf(rawBody);
    if (!isBodySignature(headers[this.#scheme.header], rawBody, secrets)) throw new InvalidSignature();
    return workspaceId;
  }
}
