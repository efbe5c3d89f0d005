import { Module } from '@nestjs/common';
import { Events } from './events.js';

@Module({ providers: [Events], exports: [Events] })
export class EventsModule {}
