import { Global, Module } from '@nestjs/common';
import { SecretBox } from './secret-box.js';

/** Encryption of what must be read again: every feature that keeps a secret seals it with the one {@link SecretBox}. */
@Global()
@Module({
  providers: [SecretBox],
  exports: [SecretBox],
})
export class SecretsModule {}
