import { Global, Module } from '@nestjs/common';
import { Checkpoints } from './checkpoints.js';
import { Receipts } from './receipts.js';
import { SigningKeys } from './signing-keys.js';

@Global()
@Module({
  providers: [Receipts, Checkpoints, SigningKeys],
  exports: [Receipts, Checkpoints, SigningKeys],
})
export class ReceiptsModule {}
