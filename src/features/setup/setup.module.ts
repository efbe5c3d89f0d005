import { Module } from '@nestjs/common';
import { CaposModule } from '../capos/index.js';
import { MailModule } from '../mail/index.js';
import { FirstStepsReader } from './first-steps.reader.js';
import { Setup } from './setup.js';
import { SetupController } from './setup.controller.js';

/** @level 10 */
@Module({
  imports: [CaposModule, MailModule],
  controllers: [SetupController],
  providers: [Setup, FirstStepsReader],
})
export class SetupModule {}
