import { Injectable } from '@nestjs/common';
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import { Clock } from '../../platform/kernel/clock.js';
import { SecretBox, SecretUnreadable } from '../../platform/secrets/secret-box.js';
import { OidcIdentities } from './oidc-identities.repository.js';
import { OidcSignInExpired } from './oidc.errors.js';

/** Seconds between the beginning of a sign-in and the return from the provider. */
export const TRANSACTION_SECONDS = 600;

const PURPOSE = 'oidc sign-in';

/** A sign-in that has begun. The browser that began it keeps it, sealed, and no other has it. */
export interface OidcTransaction {
  state: string;
  nonce: string;
  /** Of PKCE: only who has it can use the code. */
  verifier: string;
  /** Where to go on; null: nowhere. */
  returnTo: string | null;
  /** The secret of the session that the browser had: its cookie, unlike this one, does not come back from the provider. */
  presented?: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

/** Sign-ins between their beginning and their end; of them is stored only that they were completed. */
@Injectable()
export class OidcTransactions {
  constructor(
    private readonly secrets: SecretBox,
    private readonly identities: OidcIdentities,
    private readonly clock: Clock,
  ) {}

  begin(returnTo: string | null, presented: string | undefined): OidcTransaction {
    return {
      state: randomState(),
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
      returnTo,
      ...(presented !== undefined && { presented }),
      expiresAt: this.clock.now() + TRANSACTION_SECONDS * 1000,
    };
  }

  seal(transaction: OidcTransaction): string {
    return this.secrets.seal(JSON.stringify(transaction), PURPOSE);
  }

  /** The sign-in of this cookie; undefined if it is none of ours, or too old. */
  open(sealed: string | undefined): OidcTransaction | undefined {
    if (sealed === undefined) return undefined;
    try {
      const transaction = JSON.parse(this.secrets.open(sealed, PURPOSE)) as OidcTransaction;
      return transaction.expiresAt > this.clock.now() ? transaction : undefined;
    } catch (error) {
      if (error instanceof SecretUnreadable) return undefined;
      throw error;
    }
  }

  /** Marks it as used, whatever comes of it. @throws OidcSignInExpired when it was used before */
  async spend({ state, expiresAt }: OidcTransaction): Promise<void> {
    if (await this.identities.spend(state, this.clock.now(), expiresAt)) return;
    throw new OidcSignInExpired();
  }
}
