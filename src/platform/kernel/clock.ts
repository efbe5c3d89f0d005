import { Injectable } from '@nestjs/common';

/** The one source of the time. Unix milliseconds; tests put another in its place. */
@Injectable()
export class Clock {
  /** Unix time in milliseconds. */
  now(): number {
    return Date.now();
  }
}
