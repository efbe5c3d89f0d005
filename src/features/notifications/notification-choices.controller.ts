import { Body, Controller, Get, Param, Post, Res, Put } from '@nestjs/common';
import type { Response } from 'express';
import { ApiTags } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { htmlPage, messagePage, SecretPage } from '../../platform/http/page.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Route } from '../../platform/http/route.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { MUTATIONS, READS } from '../../platform/rate-limit/limits.js';
import { type Block, oneLine, pageHtml } from '../mail/index.js';
import {
  type ListChoice,
  NotificationChoiceService,
  type Subscription,
} from './notification-choice.service.js';
import { ChangeNotificationChoices, NotificationChoicesView } from './notification-choices.dto.js';

const HTML = { 200: { 'text/html': '<!doctype html>' } };
const CHOICES: readonly unknown[] = ['none', 'urgent', 'all'] satisfies ListChoice[];

/**
 * The link by which a reader ends digests or reports: GET shows it, since programs open links of mails too, and POST ends them; by
 * the page, or by the mailbox's provider, whose form says nothing but that (RFC 8058).
 */
@Controller('unsubscribe/:token')
export class UnsubscribeController {
  constructor(
    private readonly choices: NotificationChoiceService,
    private readonly address: PublicAddress,
  ) {}

  /** Says what is mailed now, and offers to end it; it changes nothing. */
  @Get()
  @SecretPage()
  @Route({ auth: 'public', limit: READS, returns: HTML })
  show(@Param('token') token: string, @Res({ passthrough: true }) response: Response): Promise<string> {
    return this.page(response, token);
  }

  /** Ends these mails, or begins them again. */
  @Post()
  @SecretPage()
  @Route({ auth: 'public', form: true, limit: MUTATIONS, returns: HTML })
  choose(
    @Param('token') token: string,
    @Body() { choice = 'none' }: { choice?: string },
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return this.page(response, token, choice);
  }

  private async page(response: Response, token: string, choice?: string): Promise<string> {
    try {
      const known = CHOICES.includes(choice) ? (choice as ListChoice) : undefined;
      const subscription = await this.choices.byLink(token, known);
      if (subscription) return pageOf(subscription, this.address.url);
      return messagePage('You get no mails', 'You are not a member of this workspace any more.');
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      response.status(error.status).set(error.headers);
      return messagePage('Nothing was changed', error.message);
    }
  }
}

/** What is mailed now, as a title and as a sentence, and the buttons that change it. */
function pageOf({ list, chosen, memberName, workspaceName }: Subscription, publicUrl: string): string {
  const isReport = list === 'reports';
  const what = isReport ? 'the Daily Report' : 'what waits for your decision';
  const title = {
    all: isReport ? 'You are mailed the Daily Report' : 'You are mailed what waits for you',
    urgent: 'You are mailed only what is urgent',
    none: isReport ? 'You are mailed no Daily Report' : 'You are not mailed what waits for you',
  }[chosen];
  const blocks: Block[] = [
    {
      kind: 'text',
      text: `${memberName}, this is about mails on ${what} in ${oneLine(workspaceName)}.${
        isReport ? '' : ' Without them, approvals can expire before you see them.'
      } Kills and changes of your account are mailed in any case.`,
    },
  ];
  const button = (choice: ListChoice, words: string, look: string) =>
    choice === chosen || (isReport && choice === 'urgent')
      ? ''
      : `<button class="${look}" name="choice" value="${choice}">${words}</button>\n`;
  const how: Block = {
    kind: 'reference',
    text: 'You can change this here at any time. Choose more in your account, such as what is mailed once a day:',
    url: `${publicUrl}/account`,
  };
  return htmlPage(
    title,
    `${pageHtml(blocks)}
<form method="post">
${button('none', 'Stop these mails', 'reject')}${button('urgent', 'Mail me only what is urgent', 'revise')}${button('all', 'Mail me these again', 'approve')}</form>
${pageHtml([how])}`,
  );
}

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
