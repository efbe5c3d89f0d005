import { Module } from '@nestjs/common';
import { Events } from './events.js';

/** @level 2 */
@Module({ providers: [Events], exports: [Events] })
export class EventsModule {}
