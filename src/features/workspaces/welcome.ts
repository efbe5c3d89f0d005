import { join } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import type { StartOutput } from '../../platform/observability/start-output.js';
import { isReachable } from '../../platform/kernel/mail-address.js';
import { type FirstCredentials, FirstRun } from './first-run.js';

/** Tells the person who started the program the address, the configured abilities and the first sign-in. */
export function welcome(address: string, app: INestApplicationContext, output: StartOutput): void {
  const config = app.get(Config);
  output.info(`Consigliere is ready at ${address}`, { address });
  output.info(`The API reference is at ${address}/docs`);
  output.info(draftsSentence(config), { modelProvider: config.modelProvider });
  if (config.mailTransport === 'file') {
    const directory = join(config.dataDir, 'outbox');
    output.warn(
      `Mail is written to files in ${directory} and sent to nobody. To send it, set SMTP_URL and MAIL_FROM.`,
      { mailTransport: 'file' },
    );
  } else if (!isReachable(config.mailFrom.replaceAll(/^.*<|>$/g, ''))) {
    output.warn(
      `SMTP_URL is set and MAIL_FROM is not an address of yours: mail leaves from ${config.mailFrom}, which mail servers refuse or mark as spam. Set MAIL_FROM.`,
      { mailFrom: config.mailFrom },
    );
  }
  const { credentials } = app.get(FirstRun);
  if (credentials) tellOnce(credentials, config, output);
  const owner = config.bootstrapOwnerEmail;
  if (credentials && !isReachable(owner)) {
    output.warn(
      `Nobody is mailed what waits for a decision: the owner is ${owner}, where nobody receives mail. Invite yourself as owner, at an address of yours (POST /api/pro/members).`,
      { owner },
    );
  }
  if (output.isTerminal) output.info('Ctrl-C stops it.');
}

function draftsSentence({ modelProvider, modelName }: Config): string {
  if (modelProvider !== 'builtin')
    return `Drafts are made by the model ${modelName} (MODEL_PROVIDER=${modelProvider}).`;
  return (
    'Drafts are made by the built-in runner: what stands in quotation marks is sent word for word, and what is only ' +
    'described is left for you to word. To have texts written, connect a model (MODEL_PROVIDER).'
  );
}

/** The token is shown at a terminal only: a log is kept, copied and read by others. The file has it in either case. */
function tellOnce({ token, file }: FirstCredentials, { bootstrapToken }: Config, output: StartOutput): void {
  output.info(
    `This was the first start. The owner's operator token is in ${file} (readable by this user only).`,
    { file },
  );
  if (output.isTerminal && bootstrapToken === undefined) output.info(`It is ${token}`);
}
