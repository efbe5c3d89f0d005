export { AccountsModule } from './accounts.module.js';
export { SignInBody } from './sessions.dto.js';
export { Sessions } from './sessions.repository.js';
export { SignIn } from './sign-in.js';
export { type Origin, StartSession, type StartedSession } from './start-session.js';
