import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { calculateJwkThumbprint, exportJWK, SignJWT } from 'jose';
import { PublicAddress } from '../../platform/http/public-address.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { paramsHashOf } from '../terms/index.js';
import type { ActionRequestEntity } from './action-request.entity.js';
import type { PermitKeySet, PermitPublicKey } from './action-requests.dto.js';

const ALGORITHM = 'EdDSA';
const TYPE = 'consigliere-permit+jwt';
const VALID_SECONDS = 60;
/** What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

interface PermitKey {
  privateKey: KeyObject;
  jwk: PermitPublicKey;
}

/** A request that was consumed. */
export type PermittedRequest = ActionRequestEntity & { consumedAt: number; attempt: string };

/**
 * Signs the permits of action requests (CONTRACT section 7). The key is derived from SECRETS_KEY, so every process has the same one
 * and none is kept; with another SECRETS_KEY it is another key.
 */
@Injectable()
export class Permits {
  #key: Promise<PermitKey> | undefined;

  constructor(
    private readonly secrets: SecretBox,
    private readonly address: PublicAddress,
  ) {}

  /** The public key, as verifiers read it. */
  async keys(): Promise<PermitKeySet> {
    return { keys: [(await this.key()).jwk] };
  }

  /**
   * A compact JWS that permits exactly this call for 60 seconds. Made again for the same attempt it has the same `jti`, so a verifier
   * that takes each once takes it once.
   */
  async sign(request: PermittedRequest): Promise<string> {
    const { privateKey, jwk } = await this.key();
    const { workspaceId, actionRequestId, tool, audience, paramsHash, decision, consumedAt, receiptId } =
      request;
    const issuedAt = Math.floor(consumedAt / 1_000);
    const claims = {
      workspace_id: workspaceId,
      tool,
      params_sha256: paramsHash,
      // A name could be that of somebody else.
      decided_by: decision!.decidedBy.id,
      edited: paramsHashOf(tool, request.params) !== paramsHash,
      receipt_id: receiptId,
      guardian_epoch: request.guardianEpoch,
    };
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: jwk.kid })
      .setIssuer(this.address.url)
      .setAudience(audience)
      .setSubject(actionRequestId)
      .setJti(`${actionRequestId}.${request.attempt}`)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + VALID_SECONDS)
      .sign(privateKey);
  }

  private key(): Promise<PermitKey> {
    return (this.#key ??= this.derive());
  }

  private async derive(): Promise<PermitKey> {
    const seed = this.secrets.code('ed25519', 'permits');
    const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
    const jwk = await exportJWK(createPublicKey(privateKey));
    const kid = await calculateJwkThumbprint(jwk);
    const { kty, crv, x } = jwk;
    return { privateKey, jwk: { kty: kty!, crv: crv!, x: x!, kid, alg: ALGORITHM, use: 'sig' } };
  }
}
