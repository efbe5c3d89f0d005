import { Module } from '@nestjs/common';
import { CallOperation } from './call-operation.js';
import { Connectors } from './connectors.js';

/** @level 4 */
@Module({ providers: [Connectors, CallOperation], exports: [Connectors, CallOperation] })
export class ConnectorsModule {}
