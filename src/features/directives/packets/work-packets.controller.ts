import { Controller, Get, Query } from '@nestjs/common';
import { type Caller, scopeOf } from '../../../platform/auth/caller.js';
import { CurrentCaller } from '../../../platform/auth/current-caller.js';
import { Route } from '../../../platform/http/route.js';
import { specified } from '../../../platform/rate-limit/limits.js';
import { viewOf } from './work-packet.js';
import { WorkPacketPage, WorkPacketQuery } from './work-packets.dto.js';
import { WorkPackets } from './work-packets.repository.js';

@Controller('api/pro/work-packets')
export class WorkPacketsController {
  constructor(private readonly packets: WorkPackets) {}

  /** The moves of the capos, newest first. */
  @Get()
  @Route({ auth: 'token', limit: specified('/api/pro/work-packets'), returns: { 200: WorkPacketPage } })
  async list(@CurrentCaller() caller: Caller, @Query() query: WorkPacketQuery): Promise<WorkPacketPage> {
    const page = await this.packets.list(scopeOf(caller), query);
    return { ...page, items: page.items.map(viewOf) };
  }
}
