import { Controller, Get } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { Profile } from './profile.dto.js';
import { ReadProfile } from './read-profile.js';

@Controller('api/pro/profile')
export class ProfileController {
  constructor(private readonly readProfile: ReadProfile) {}

  /** Who calls, and how far the workspace acts by itself. */
  @Get()
  @Route({ auth: 'member', replica: true, limit: specified('/api/pro/profile'), returns: { 200: Profile } })
  get(@CurrentCaller() caller: Caller): Promise<Profile> {
    return this.readProfile.execute(caller);
  }
}
