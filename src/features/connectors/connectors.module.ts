import { Module } from '@nestjs/common';
import { WorkspacesModule } from '../workspaces/index.js';
import { CallOperation } from './call-operation.js';
import { Connectors } from './connectors.js';

/** @level 4 */
@Module({
  imports: [WorkspacesModule],
  providers: [Connectors, CallOperation],
  exports: [Connectors, CallOperation],
})
export class ConnectorsModule {}
