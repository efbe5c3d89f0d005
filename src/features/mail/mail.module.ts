import { Module } from '@nestjs/common';
import { MailWork } from './mail-work.js';
import { Mailer } from './mailer.js';

/** @level 3 */
@Module({ providers: [Mailer, MailWork], exports: [Mailer, MailWork] })
export class MailModule {}
