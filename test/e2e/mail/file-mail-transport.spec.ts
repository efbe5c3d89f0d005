import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MailMessage } from '../../../src/features/mail/mail-message.js';
import { Mailer, MailFailed } from '../../../src/features/mail/mailer.js';
import { loadConfig } from '../../../src/platform/config/config.js';
import { Clock } from '../../../src/platform/kernel/clock.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';

const never = new AbortController().signal;

let dataDir: string;
let mailer: Mailer;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'consigliere-outbox-'));
  mailer = new Mailer(loadConfig({ NODE_ENV: 'test', DATA_DIR: dataDir }), new Clock(), new Metrics());
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const message = (change: Partial<MailMessage> = {}): MailMessage => ({
  id: newId('pkt'),
  to: ['bob@buyer.example'],
  cc: ['eve@buyer.example'],
  subject: 'Angebot für Sie',
  body: 'Hallo\n.\n.punkt',
  ...change,
});

describe('without a mail server', () => {
  it('a mail becomes one complete file, and may be sent again', async () => {
    const mail = message();
    const sent = await mailer.send(mail, never);
    expect(sent).toEqual({
      messageId: `<${mail.id}@example.com>`,
      accepted: ['bob@buyer.example', 'eve@buyer.example'],
      rejected: [],
      transport: 'file',
      response: `outbox/${mail.id}.eml`,
    });
    expect(mailer.repeatable).toBe(true);
    expect(await readdir(join(dataDir, 'outbox'))).toEqual([`${mail.id}.eml`]);
    const bytes = await readFile(join(dataDir, sent.response));
    expect(bytes.toString('latin1').replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(await PostalMime.parse(bytes)).toMatchObject({
      messageId: `<${mail.id}@example.com>`,
      from: { name: 'Consigliere', address: 'consigliere@example.com' },
      to: [{ address: 'bob@buyer.example' }],
      cc: [{ address: 'eve@buyer.example' }],
      subject: 'Angebot für Sie',
      text: 'Hallo\n.\n.punkt\n',
    });
  });

  it('is for its owner only', async () => {
    const { response } = await mailer.send(message(), never);
    expect((await stat(join(dataDir, response))).mode & 0o777).toBe(0o600);
    expect((await stat(join(dataDir, 'outbox'))).mode & 0o777).toBe(0o700);
  });

  it('the same packet writes its file once, however often and at the same time', async () => {
    const mail = message();
    const file = join(dataDir, 'outbox', `${mail.id}.eml`);
    const sent = await Promise.all(Array.from({ length: 5 }, () => mailer.send(mail, never)));
    for (const one of sent) expect(one).toEqual(sent[0]);
    expect(await readdir(join(dataDir, 'outbox'))).toEqual([`${mail.id}.eml`]);
    const { ino } = await stat(file);
    const bytes = await readFile(file);
    await mailer.send({ ...mail, subject: 'Another' }, never);
    expect((await stat(file)).ino).toBe(ino);
    expect(await readFile(file)).toEqual(bytes);
  });

  it('nothing is written when sending is aborted', async () => {
    await expect(mailer.send(message(), AbortSignal.abort())).rejects.toMatchObject({
      code: 'unreachable',
      retryable: true,
    });
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('a disk that cannot be written is worth another try, and leaves no half a file', async () => {
    await writeFile(join(dataDir, 'outbox'), 'in the way');
    const failed = mailer.send(message(), never);
    await expect(failed).rejects.toBeInstanceOf(MailFailed);
    await expect(failed).rejects.toMatchObject({ code: 'unreachable', retryable: true });
    await rm(join(dataDir, 'outbox'));
    await mailer.send(message(), never);
    await chmod(join(dataDir, 'outbox'), 0o700);
    expect(await readdir(join(dataDir, 'outbox'))).toHaveLength(1);
  });
});
