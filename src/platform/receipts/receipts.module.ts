import { Global, Module } from '@nestjs/common';
import { SecretBox } from '../secrets/secret-box.js';
import { Checkpoints } from './checkpoints.js';
import { Receipts } from './receipts.js';
import { SigningKeys } from './signing-keys.js';

@Global()
@Module({
  providers: [Receipts, Checkpoints, SigningKeys, SecretBox],
  exports: [Receipts, Checkpoints, SigningKeys, SecretBox],
})
export class ReceiptsModule {}
