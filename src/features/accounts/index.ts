export { AccountsModule } from './accounts.module.js';
export { type Origin, SessionService, type StartedSession } from './session.service.js';
export { SignInBody } from './accounts.dto.js';
export { Sessions } from './sessions.repository.js';
export { SignIn } from './sign-in.js';
