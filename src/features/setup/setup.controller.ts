import { Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { SetupFinding, SetupView } from './setup.dto.js';
import { Setup } from './setup.js';

/** Each test sends a mail or costs tokens. A test waits for another server, so no transaction is open. */
const TEST = {
  auth: 'member',
  role: 'admin',
  transaction: false,
  returns: { 200: SetupFinding },
} as const;

@ApiTags('setup')
@Controller('api/pro/setup')
export class SetupController {
  constructor(private readonly setup: Setup) {}

  /** How address, mail and model are set up, and which first steps the workspace has done. */
  @Get()
  @Route({ auth: 'member', replica: true, role: 'admin', returns: { 200: SetupView } })
  get(@CurrentCaller() caller: Caller): Promise<SetupView> {
    return this.setup.read(caller);
  }

  /** Sends the caller a mail now, and answers what became of it. */
  @Post('test-mail')
  @Route(TEST)
  testMail(@CurrentCaller() caller: Caller): Promise<SetupFinding> {
    return this.setup.testMail(caller);
  }

  /** Asks the model a question now, and answers what became of it. */
  @Post('test-model')
  @Route(TEST)
  testModel(@CurrentCaller() caller: Caller): Promise<SetupFinding> {
    return this.setup.testModel(caller);
  }
}
