import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { WindowStorage } from './window-storage.js';

/** Keeps the counters. Apart from them, since the throttler provides the same store once more under a name of its own. */
@Injectable()
export class WindowUpkeep implements OnModuleInit, BeforeApplicationShutdown {
  constructor(private readonly windows: WindowStorage) {}

  async onModuleInit(): Promise<void> {
    await this.windows.start();
  }

  @Interval(1000)
  async everySecond(): Promise<void> {
    await this.windows.everySecond();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.windows.end();
  }
}
