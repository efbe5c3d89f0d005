import { Body, Controller, Get, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { ChangeNotificationChoices, NotificationChoicesView } from './notification-choices.dto.js';
import { NotificationChoiceService } from './notification-choice.service.js';

@ApiTags('notifications')
@Controller('api/pro/profile/notifications')
export class NotificationChoicesController {
  constructor(private readonly choices: NotificationChoiceService) {}

  /** What the caller is mailed, and when. */
  @Get()
  @Route({ auth: 'member', replica: true, returns: { 200: NotificationChoicesView } })
  get(@CurrentCaller() caller: Caller): Promise<NotificationChoicesView> {
    return this.choices.read(caller);
  }

  /** Changes what the caller is mailed. */
  @Put()
  @Route({ auth: 'member', returns: { 200: NotificationChoicesView } })
  update(
    @CurrentCaller() caller: Caller,
    @Body() body: ChangeNotificationChoices,
  ): Promise<NotificationChoicesView> {
    return this.choices.change(caller, body);
  }
}
