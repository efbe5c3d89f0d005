import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';
import type { ApprovalDecided } from '../src/features/approvals/approval-decisions.dto.js';
import type { ApprovalView } from '../src/features/approvals/approvals.dto.js';
import type { FeedPage, ChainVerification } from '../src/features/audit/audit.dto.js';
import type { SettingsView } from '../src/features/workspaces/workspace.dto.js';
import type { DirectiveView, QueuedDirective } from '../src/features/directives/directives.dto.js';

/** A guided tour in one terminal: starts the service in a folder of its own, walks through the main job, ends it. */

const step = (text: string) => console.log(`\n${styleText('bold', `> ${text}`)}`);
const show = (text: string) => console.log(text.replace(/^/gm, '  '));

const dataDir = await mkdtemp(join(tmpdir(), 'consigliere-demo-'));
// Run by root, the database works as another user, who must be able to enter.
await chmod(dataDir, 0o755);
const service = spawn(process.execPath, [join(import.meta.dirname, '../src/main.js')], {
  env: { ...process.env, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error', DATABASE_URL: '', SMTP_URL: '' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(service, 'exit');

try {
  const address = await Promise.race([addressOf(service.stdout), ended.then(() => undefined)]);
  if (!address) throw new Error('the service did not start');
  await tour(address, JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8')).token);
} finally {
  service.kill('SIGTERM');
  await ended;
  await rm(dataDir, { recursive: true, force: true });
}

async function addressOf(output: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input: output })) {
    const address = /ready at (http[^\s"]+)/.exec(line)?.[1];
    if (address) return address;
  }
  return undefined;
}

async function tour(address: string, token: string): Promise<void> {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${address}/api/pro${path}`, {
      method,
      headers: {
        'x-service-token': token,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as T;
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`);
    return answer;
  };

  step('You say who signs, and where answers go');
  const { sender } = await call<SettingsView>('PUT', '/settings', {
    sender: { name: 'Mira Novak', signature: 'Northwind Customer Care', replyTo: 'care@northwind.example' },
  });
  show(`${sender.name}, ${sender.signature}, answers to ${sender.replyTo}`);

  const text = 'Email jane@acme.example, subject "Your order": "Your order ships on Friday."';
  step(`You hand in a directive: ${text}`);
  const { directiveId, approvalId } = await call<QueuedDirective>('POST', '/directive', { text });
  show(`directive ${directiveId}\napproval  ${approvalId}`);

  step('The consigliere routes it, a capo drafts it, and it stops at your approval');
  const approval = await call<ApprovalView>('GET', `/approvals/${approvalId}?wait=20`);
  show(`${approval.summary}\ncapo ${approval.capo}, risk ${approval.risk}, ${approval.reversibility}`);
  show(approval.output?.body ?? '');

  step('You approve exactly this content');
  const decided = await call<ApprovalDecided>('POST', `/approvals/${approvalId}/approve`);
  show(`${decided.status}, receipt ${decided.receiptId}`);

  step('What was approved leaves (as a file here; SMTP_URL would send it)');
  await until(
    async () => (await call<DirectiveView>('GET', `/directives/${directiveId}`)).status === 'executed',
  );
  const [file] = await readdir(join(dataDir, 'outbox'));
  show((await readFile(join(dataDir, 'outbox', file!), 'utf8')).split('\r\n').slice(0, 10).join('\n'));

  step('Every step left a receipt');
  const { items } = await call<FeedPage>('GET', '/feed?limit=20');
  show(
    items
      .map((item) => `${item.seq}. ${item.text}`)
      .toReversed()
      .join('\n'),
  );

  step('And the chain of receipts is whole');
  const { ok, checked, head } = await call<ChainVerification>('GET', '/audit-feed/verify');
  show(`ok: ${ok}, ${checked} receipts, head ${head.hash}`);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('it took too long');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
