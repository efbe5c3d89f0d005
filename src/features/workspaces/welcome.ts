import type { INestApplicationContext } from '@nestjs/common';
import { FirstRun } from './first-run.js';

/** Tells the person at the terminal where the service is and, once, how to get in. */
export function welcome(address: string, app: INestApplicationContext): void {
  const lines = [`Consigliere is ready at ${address}`];
  const { credentials } = app.get(FirstRun);
  if (credentials) {
    lines.push(
      '',
      'This was the first start. Keep what follows; it is shown once:',
      `  operator token  ${credentials.token}`,
      `  owner sign-in   ${credentials.email}  ${credentials.password}`,
      `The token is also in ${credentials.file} (readable by you only).`,
    );
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}
