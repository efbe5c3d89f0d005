import { Body, Controller, Get, Put } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { ChangeNotificationChoices, NotificationChoicesView } from './notification-choices.dto.js';
import { ChooseNotifications } from './choose-notifications.js';

@Controller('api/pro/profile/notifications')
export class NotificationChoicesController {
  constructor(private readonly chooseNotifications: ChooseNotifications) {}

  /** What the caller is mailed, and when. */
  @Get()
  @Route({ auth: 'member', returns: { 200: NotificationChoicesView } })
  read(@CurrentCaller() caller: Caller): Promise<NotificationChoicesView> {
    return this.chooseNotifications.read(caller);
  }

  /** Changes what the caller is mailed. */
  @Put()
  @Route({ auth: 'member', returns: { 200: NotificationChoicesView } })
  change(
    @CurrentCaller() caller: Caller,
    @Body() body: ChangeNotificationChoices,
  ): Promise<NotificationChoicesView> {
    return this.chooseNotifications.execute(caller, body);
  }
}
