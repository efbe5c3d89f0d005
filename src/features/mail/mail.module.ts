import { Module } from '@nestjs/common';
import { Mailer } from './mailer.js';

/** @level 3 */
@Module({ providers: [Mailer], exports: [Mailer] })
export class MailModule {}
