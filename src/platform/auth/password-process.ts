import { hashSync, verifySync } from '@node-rs/argon2';
import { serveCalls } from '../processes/serve-calls.js';
import type { PasswordWork } from './passwords.js';

serveCalls(({ password, passwordHash }: PasswordWork) =>
  passwordHash === undefined ? hashSync(password) : verifySync(passwordHash, password),
);
