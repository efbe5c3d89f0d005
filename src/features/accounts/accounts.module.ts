import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { EndSession } from './end-session.js';
import { ReadSession } from './read-session.js';
import { SessionController } from './session.controller.js';
import { SessionEntity } from './session.entity.js';
import { SessionsController } from './sessions.controller.js';
import { Sessions } from './sessions.repository.js';
import { SignIn } from './sign-in.js';
import { StartSession } from './start-session.js';

/** @level 4 */
@Module({
  imports: [TypeOrmModule.forFeature([SessionEntity]), WorkspacesModule],
  controllers: [SessionController, SessionsController],
  providers: [Sessions, SignIn, StartSession, ReadSession, EndSession],
})
export class AccountsModule {}
