import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { HostileProxy } from '../sdk/hostile-proxy.js';
import { closedAddress, hasTerminal, Shell } from './terminal.js';

const MAIL = 'Email jane@acme.example, subject "Your order": "It ships on Friday."';

let test: TestApp;
let admin: TestMember;
let shell: Shell;

beforeAll(async () => {
  test = await startTestApp();
  admin = await test.createMember(test.workspaceId, 'admin');
  shell = await Shell.of(test, admin.token);
});

afterAll(() => test?.close());

/** An approval whose draft is ready. */
async function draft(text = MAIL): Promise<{ approvalId: string; directiveId: string; contentHash: string }> {
  const { approval, directive } = await idsOf(['directive', text, '--capo', 'capo_ops']);
  const { contentHash } = await shell.json(['approvals', 'show', approval, '--wait']);
  return { approvalId: approval, directiveId: directive, contentHash };
}

async function idsOf(args: string[]): Promise<{ approval: string; directive: string }> {
  const { approvalId, directiveId } = await shell.json(args);
  return { approval: approvalId, directive: directiveId };
}

const statusOf = async (approvalId: string): Promise<string> =>
  (
    await test.rows<{ status: string }>('select status from approvals where approval_id = $1', [approvalId])
  )[0]!.status;

describe('signing in', () => {
  it('keeps a token from standard input for this user alone', async () => {
    const fresh = await Shell.of(test);
    const { code, stdout, stderr } = await fresh.run(['login', '--with-token', '--url', test.url], {
      input: `${admin.token}\n`,
      env: { CONSIGLIERE_BASE_URL: '' },
    });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toContain(`at ${test.url} as`);
    expect(stdout).not.toContain(admin.token);
    const file = join(fresh.folder, 'config', 'config.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    const who = await fresh.json(['whoami'], { env: { CONSIGLIERE_BASE_URL: '' } });
    expect(who).toMatchObject({ role: 'admin', workspaceId: test.workspaceId, tokenFrom: 'profile default' });
    expect((await fresh.run(['logout'])).code).toBe(0);
    expect(await readFile(file, 'utf8')).not.toContain(admin.token);
    expect((await fresh.run(['whoami'])).code).toBe(4);
  });

  it('keeps a profile for each service, and uses the one that is named', async () => {
    const fresh = await Shell.of(test);
    const own = { CONSIGLIERE_BASE_URL: '' };
    const viewer = await test.createMember(test.workspaceId, 'viewer');
    const login = (name: string, token: string) =>
      fresh.run(['login', '--with-token', '--url', test.url, '--profile', name], { input: token, env: own });
    await login('one', admin.token);
    await login('two', viewer.token);
    expect(await fresh.json(['profiles'])).toMatchObject([
      { name: 'one', isCurrent: false },
      { name: 'two', isCurrent: true },
    ]);
    expect(await fresh.json(['whoami', '-p', 'one'], { env: own })).toMatchObject({ role: 'admin' });
    expect((await fresh.run(['profiles', 'use', 'one'])).code).toBe(0);
    expect(await fresh.json(['whoami'], { env: own })).toMatchObject({ role: 'admin' });
    const environment = { ...own, CONSIGLIERE_TOKEN: viewer.token };
    expect(await fresh.json(['whoami'], { env: environment })).toMatchObject({
      role: 'viewer',
      tokenFrom: 'CONSIGLIERE_TOKEN',
      baseUrl: test.url,
    });
    const missing = await fresh.run(['whoami', '-p', 'three'], { env: own });
    expect(missing).toMatchObject({ code: 4, stderr: expect.stringContaining('There is no profile three.') });
  });

  it('says which token was refused, and what to do about that one', async () => {
    const fresh = await Shell.of(test);
    const [wrong, right] = [{ CONSIGLIERE_TOKEN: 'cons_wrong' }, { CONSIGLIERE_TOKEN: admin.token }];
    const login = ['login', '--with-token', '--url', test.url];
    const given = await fresh.run(login, { input: 'cons_given', env: right });
    expect(given).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(`${test.url} refused the token from standard input: `),
    });
    await fresh.run([...login, '--profile', 'old'], { input: admin.token });
    const file = join(fresh.folder, 'config', 'config.json');
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll(admin.token, 'cons_old'));
    for (const [env, source, remedy] of [
      [wrong, 'CONSIGLIERE_TOKEN', 'unset CONSIGLIERE_TOKEN'],
      [{}, 'profile old', 'consigliere login --profile old'],
    ] as const) {
      const refused = await fresh.run(['whoami'], { env });
      expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining(`token from ${source}: `) });
      expect(refused.stderr).toContain(remedy);
      const { stdout } = await fresh.run(['doctor'], { env });
      expect(stdout).toContain(remedy);
      const asJson = await fresh.run(['whoami', '--json'], { env });
      expect(JSON.parse(asJson.stderr).error).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
      for (const { stderr } of [refused, given, asJson]) expect(stderr).not.toMatch(/cons_/);
    }
    const ignored = await fresh.run(['whoami', '--profile', 'old'], { env: right });
    expect(ignored).toMatchObject({
      code: 0,
      stderr: 'CONSIGLIERE_TOKEN is set, and is used instead of the token of profile old.\n',
    });
  });

  it('warns where others may read or change its configuration', async () => {
    const fresh = await Shell.of(test);
    const own = { CONSIGLIERE_BASE_URL: '' };
    await fresh.run(['login', '--with-token', '--url', test.url], { input: admin.token, env: own });
    const file = join(fresh.folder, 'config', 'config.json');
    const warned = [];
    for (const mode of [0o600, 0o640, 0o602]) {
      await chmod(file, mode);
      const { code, stderr } = await fresh.run(['whoami'], { env: own });
      warned.push([code, stderr.includes(`chmod 600 ${file}`)]);
    }
    expect(warned).toEqual([
      [0, false],
      [0, true],
      [0, true],
    ]);
  });

  it('finds the credentials of a service on this machine, and sends them nowhere else', async () => {
    const fresh = await Shell.of(test);
    await mkdir(join(fresh.folder, '.data'));
    await writeFile(join(fresh.folder, '.data', 'credentials.json'), JSON.stringify({ token: admin.token }));
    expect(await fresh.json(['whoami'])).toMatchObject({ tokenFrom: '.data/credentials.json' });
    const elsewhere = { CONSIGLIERE_BASE_URL: 'https://ops.example.com' };
    expect(await fresh.run(['whoami'], { env: elsewhere })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('You are not signed in to https://ops.example.com.'),
    });
    // Nor gives them to an assistant, which would have the rights of an owner.
    expect(await fresh.run(['mcp'])).toMatchObject({ code: 4, stdout: '' });
    const named = { DATA_DIR: join(fresh.folder, '.data') };
    expect((await fresh.run(['whoami'], { env: named, cwd: '/' })).code).toBe(0);
  });

  it.skipIf(!hasTerminal)('asks for the token at a terminal without showing it', async () => {
    const fresh = await Shell.of(test);
    const { code, screen } = await fresh.type(
      ['login', '--url', test.url],
      [['Operator token', `${admin.token}\r`]],
    );
    expect(screen).toContain('Signed in to');
    expect(screen).not.toContain(admin.token.slice(5, 20));
    expect(code).toBe(0);
  });
});

describe('a directive', () => {
  it('is handed in, read, approved with the hash that was read, and has left', async () => {
    const { approvalId, directiveId, contentHash } = await draft();
    const show = await shell.run(['approvals', 'show', approvalId]);
    for (const part of ['jane@acme.example', 'Your order', 'It ships on Friday.', contentHash])
      expect(show.stdout).toContain(part);
    const unseen = await shell.run(['approvals', 'approve', approvalId]);
    expect(unseen).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--hash') });
    expect(await statusOf(approvalId)).toBe('pending');

    const stale = await shell.run(['approvals', 'approve', approvalId, '--hash', 'a'.repeat(64)]);
    expect(stale).toMatchObject({ code: 1, stderr: expect.stringContaining('read it again') });
    const approved = await shell.run(['approvals', 'approve', approvalId, '--hash', contentHash]);
    expect(approved).toMatchObject({ code: 0, stderr: '' });
    expect(approved.stdout).toContain(`Approval:\t${approvalId}\nStatus:\tapproved\n`);
    expect(await statusOf(approvalId)).toBe('approved');
    const again = await shell.json(['approvals', 'approve', approvalId, '--hash', contentHash]);
    expect(again).toMatchObject({ status: 'approved', directiveId });
  });

  it('that was decided before says by whom and when', async () => {
    const { approvalId } = await draft();
    await shell.run(['approvals', 'approve', approvalId, '--yes']);
    const before = /^It was (already )?approved by .+, 20\d\d-\S+Z\./;
    for (const more of [['--yes'], ['--hash', 'a'.repeat(64)]]) {
      const { stdout, code } = await shell.run(['approvals', 'approve', approvalId, ...more]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(before) });
      expect(stdout).toContain('Nothing was changed.');
    }
    const rejected = await shell.run(['approvals', 'reject', approvalId, '-m', 'No.']);
    expect(rejected).toMatchObject({ code: 1, stderr: expect.stringMatching(/It was approved by .+Z\.\n/) });
    const shown = await shell.run(['approvals', 'show', approvalId]);
    expect(shown.stdout).toMatch(new RegExp(before, 'm'));
    expect(shown.stdout).not.toContain('expires');
  });

  it('is not approved unseen by a script whose hash is empty', async () => {
    const { approvalId } = await draft();
    const { code, stderr } = await shell.run(['approvals', 'approve', approvalId, '--hash', '', '--yes']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'Error: --hash is empty.\n' });
    expect(await statusOf(approvalId)).toBe('pending');
    await shell.run(['approvals', 'reject', approvalId, '-m', 'Enough.']);
  });

  it('is read from standard input and waited for', async () => {
    const waiting = shell.run(['directive', '-', '--capo', 'capo_ops', '--wait', '--json'], { input: MAIL });
    let approvalId: string | undefined;
    while (!approvalId) {
      const { items } = (await admin.get('/approvals')).body;
      approvalId = items.find((one: any) => one.ready)?.approvalId;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await shell.run(['approvals', 'approve', approvalId, '--yes'])).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await waiting;
    expect(stderr).toContain(`Waiting for a decision: consigliere approvals show ${approvalId}`);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'executed' });
    expect(code).toBe(0);
  });

  it('ends with 6 when a person rejects it while it is waited for', async () => {
    const waiting = shell.run(['directive', MAIL, '--capo', 'capo_ops', '--wait']);
    const [approval] = await untilReady();
    const rejected = await shell.json([
      'approvals',
      'reject',
      approval.approvalId,
      '-m',
      'We do not write to them.',
    ]);
    expect(rejected).toMatchObject({ status: 'rejected' });
    expect(await waiting).toMatchObject({ code: 6, stdout: expect.stringContaining('Status:\trejected') });
  });

  it('is listed, cancelled, and not found under an unknown id', async () => {
    const { directiveId } = await draft();
    const list = await shell.run(['directives', 'list', '--status', 'pending_approval', '--limit', '1']);
    expect(list.stdout.split('\t').slice(0, 2)).toEqual([directiveId, 'pending_approval']);
    expect((await shell.run(['directives'])).stdout).toContain(directiveId);
    expect(await shell.json(['directives', 'cancel', directiveId])).toMatchObject({ status: 'cancelled' });
    const missing = await shell.run(['directives', 'get', 'dir_00000000000000000000000000', '--json']);
    expect(missing.code).toBe(3);
    expect(JSON.parse(missing.stderr).error).toMatchObject({ code: 'NOT_FOUND', exitCode: 3, status: 404 });
    const named = await shell.run(['directives', 'get', 'dir_00000000000000000000000000']);
    expect(named).toMatchObject({
      code: 3,
      stderr: [
        'Error: dir_00000000000000000000000000 was not found: it does not exist, or your token may not see it.',
        'Look it up: consigliere directives list\n',
      ].join('\n'),
    });
  });

  it('without approval names who does it', async () => {
    const wrong = await shell.run(['directive', 'Raise a warning', '--no-approval']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('needs --capo') });
  });

  const untilReady = async (): Promise<any[]> => {
    for (;;) {
      const ready = (await admin.get('/approvals')).body.items.filter((one: any) => one.ready);
      if (ready.length > 0) return ready;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
});

describe('an edit', () => {
  it('is sent as JSON with the hash that was read', async () => {
    const { approvalId, contentHash } = await draft();
    const { packets } = await shell.json(['approvals', 'show', approvalId]);
    const params = { ...packets[0].action.params, subject: 'Changed' };
    const body = JSON.stringify({ packets: [{ workPacketId: packets[0].workPacketId, params }] });
    const edit = ['approvals', 'edit', approvalId, '--file', '-'];
    expect(await shell.run(edit, { input: body })).toMatchObject({ code: 2 });
    const edited = await shell.run([...edit, '--hash', contentHash], { input: body });
    expect(edited.stdout).toContain('subject: Changed');
    await shell.run(['approvals', 'reject', approvalId, '-m', 'Enough.']);
  });

  it.skipIf(!hasTerminal)('is made in an editor, whose mistakes are kept for another try', async () => {
    const { approvalId } = await draft('Email jane@acme.example, subject "Line": "One line.\nAnother line."');
    const editor = join(shell.folder, 'editor.sh');
    const edit = async (script: string) => {
      await writeFile(editor, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return shell.type(['approvals', 'edit', approvalId], [], { env: { EDITOR: editor } });
    };
    expect(await edit('true')).toMatchObject({
      code: 0,
      screen: expect.stringContaining('Nothing was changed.'),
    });
    const broken = await edit(`sed -i 's/^subject: .*/subject: no quotes/' "$1"`);
    expect(broken.code).toBe(2);
    expect(broken.screen).toMatch(/What you wrote is kept in .*approval\.txt/);
    const { code, screen } = await edit(
      `sed -i 's/^subject: .*/subject: "By hand"/; s/Another/A changed/' "$1"`,
    );
    expect(screen).toContain('subject: By hand');
    expect(code).toBe(0);
    const { packets } = await shell.json(['approvals', 'show', approvalId]);
    expect(packets[0].action.params).toMatchObject({ subject: 'By hand' });
    expect(packets[0].action.params.body).toContain('A changed line.');
    await shell.run(['approvals', 'reject', approvalId, '-m', 'Enough.']);
  });
});

describe.skipIf(!hasTerminal)('at a terminal', { timeout: 60_000 }, () => {
  it('approving shows the draft and asks', async () => {
    const { approvalId } = await draft();
    const no = await shell.type(['approvals', 'approve', approvalId], [['Approve exactly this?', 'n']]);
    expect(no).toMatchObject({ code: 0, screen: expect.stringContaining('Nothing was changed.') });
    expect(await statusOf(approvalId)).toBe('pending');
    const yes = await shell.type(['approvals', 'approve', approvalId], [['Approve exactly this?', 'y']]);
    expect(yes.screen).toContain('It ships on Friday.');
    expect(yes.code).toBe(0);
    expect(await statusOf(approvalId)).toBe('approved');
  });

  it('what is approved is what was shown, though it is edited meanwhile', async () => {
    const { approvalId, contentHash } = await draft();
    const { packets } = await shell.json(['approvals', 'show', approvalId]);
    const params = { ...packets[0].action.params, body: 'Something else.' };
    const file = join(shell.folder, 'meanwhile.json');
    await writeFile(file, JSON.stringify({ packets: [{ workPacketId: packets[0].workPacketId, params }] }));
    const edit = ['approvals', 'edit', approvalId, '--file', file, '--hash', contentHash];
    const approve = ['approvals', 'approve', approvalId];
    const { code, screen } = await shell.type(approve, [['Approve exactly this?', 'y', edit]]);
    expect(screen).toContain('It has changed since it was read');
    expect(code).toBe(1);
    expect(await statusOf(approvalId)).toBe('pending');

    const { contentHash: second } = await shell.json(['approvals', 'show', approvalId]);
    await writeFile(
      file,
      JSON.stringify({
        packets: [{ workPacketId: packets[0].workPacketId, params: packets[0].action.params }],
      }),
    );
    const again = ['approvals', 'edit', approvalId, '--file', file, '--hash', second];
    const reviewed = await shell.type(
      ['approvals', 'review'],
      [
        ['[q]uit', 'a', again],
        ['[q]uit', 'q'],
      ],
    );
    expect(reviewed.screen).toMatch(/Something else\.[^]*It ships on Friday\.[^]*0 approved/);
    expect(await statusOf(approvalId)).toBe('pending');
    await shell.run(['approvals', 'reject', approvalId, '-m', 'Enough.']);
  });

  it('the queue is gone through with single keys', async () => {
    const ids = [];
    for (const name of ['first', 'second', 'third', 'fourth'])
      ids.push((await draft(`Email ${name}@acme.example, subject "${name}": "Hello."`)).approvalId);
    const editor = join(shell.folder, 'review-editor.sh');
    await writeFile(editor, `#!/bin/sh\nsed -i 's/^subject: .*/subject: "Edited"/' "$1"\n`, { mode: 0o755 });
    const { code, screen } = await shell.type(
      ['approvals', 'review'],
      [
        // Twice, in haste: the second key is not for the next approval, which nobody has seen.
        ['[q]uit', 'aa'],
        ['Approved', ''],
        ['[q]uit', 'r'],
        ['Why?', 'Not today.\r'],
        ['Rejected', ''],
        ['[q]uit', 'e'],
        ['[q]uit', 'a'],
        ['Approved', ''],
        ['[q]uit', 's'],
      ],
      { env: { EDITOR: editor } },
    );
    expect(screen).toContain('Nothing else waits for you.');
    expect(screen).toContain('2 approved, 1 rejected, 1 skipped.');
    expect(code).toBe(0);
    expect(await Promise.all(ids.map(statusOf))).toEqual(['approved', 'rejected', 'approved', 'pending']);
    const { packets } = await shell.json(['approvals', 'show', ids[2]!]);
    expect(packets[0].action.params.subject).toBe('Edited');
    const ended = await shell.type(['approvals', 'review'], [['[q]uit', '\u0003']]);
    expect(ended.code).toBe(130);
    await shell.run(['approvals', 'reject', ids[3]!, '-m', 'Enough.']);
  });

  it('the queue is watched for more', async () => {
    const reviewing = shell.type(
      ['approvals', 'review', '--watch'],
      [
        ['Waiting for more', ''],
        ['[q]uit', 'q'],
      ],
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const text = 'Email late@acme.example, subject "Late": "Hello."';
    const { approvalId } = (await admin.post('/directive', { text, capo: 'capo_ops' })).body;
    const { code, screen } = await reviewing;
    expect(screen).toContain(approvalId);
    expect(code).toBe(0);
    await admin.post(`/approvals/${approvalId}/reject`, { feedback: 'Enough.' });
  });

  it('a table fits 80 columns', async () => {
    const { approvalId } = await draft(`Email jane@acme.example, subject "${'long '.repeat(30)}": "Hello."`);
    const { screen } = await shell.type(['approvals', 'list'], []);
    const lines = screen.trimEnd().split('\n');
    const [head = '', ...others] = lines.filter((line) => !line.startsWith('…'));
    expect(head).toMatch(/^ID +RISK +FROM +TITLE +EXPIRES/);
    expect(Math.max(...others.map(({ length }) => length))).toBeLessThanOrEqual(80);
    // What is cut is marked, and the way to all of it is named.
    expect(screen).toMatch(/Email jane@acme\.\w+…  in/);
    expect(screen).toContain('… marks what is cut: consigliere approvals show <id> shows it whole.');
    const whole = await shell.type(['approvals', 'show', approvalId], []);
    expect(whole.screen.replaceAll(/\s+/g, ' ')).toContain('long '.repeat(30).trim());
    await shell.run(['approvals', 'reject', approvalId, '-m', 'Enough.']);
  });
});

describe('the guardian', () => {
  it('does not kill without a terminal and without --yes', async () => {
    const { code, stderr } = await shell.run(['guardian', 'kill']);
    expect(code).toBe(2);
    expect(stderr).toContain('Nothing was halted.');
    expect(await shell.json(['guardian', 'status'])).toMatchObject({ mode: 'guardrailed' });
  });

  it.skipIf(!hasTerminal)('asks to type HALT', async () => {
    const wrong = await shell.type(['guardian', 'kill'], [['Type HALT', 'halt\r']]);
    expect(wrong).toMatchObject({ code: 2, screen: expect.stringContaining('Nothing was halted.') });
    const left = await shell.type(['guardian', 'kill'], [['Type HALT', '\u0003']]);
    expect(left.code).toBe(130);
    expect(await shell.json(['guardian', 'status'])).toMatchObject({ mode: 'guardrailed' });
    const killed = await shell.type(['guardian', 'kill'], [['Type HALT', 'HALT\r']]);
    expect(killed).toMatchObject({ code: 0, screen: expect.stringContaining('Everything is halted.') });
    expect(await shell.json(['guardian', 'revert'])).toMatchObject({ mode: 'resume' });
  });

  it('kills with --yes, refuses what is refused with 6, and goes on', async () => {
    const { approvalId } = await draft();
    const killed = await shell.json(['guardian', 'kill', '--yes', '--reason', 'Wrong price list']);
    expect(killed).toMatchObject({ mode: 'killed', changed: true });
    const refused = await shell.run(['approvals', 'approve', approvalId, '--yes']);
    expect(refused).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('consigliere guardian status'),
    });
    const status = await shell.run(['guardian', 'status']);
    expect(status.stdout).toContain('Reason:\tWrong price list');
    const { epoch } = killed as { epoch: number };
    expect(status.stderr).toContain(`consigliere guardian revert --epoch ${epoch}`);
    const stale = await shell.run(['guardian', 'revert', '--epoch', `${epoch + 1}`]);
    expect(stale).toMatchObject({ code: 1, stderr: expect.stringContaining(`the epoch is ${epoch}`) });
    expect((await shell.run(['guardian', 'revert', '--epoch', `${epoch}`, '--reason', 'Mended'])).code).toBe(
      0,
    );
    expect((await shell.run(['approvals', 'reject', approvalId, '-m', 'Enough.'])).code).toBe(0);
    const kills = await test.rows("select count(*)::int as n from receipts where action = 'guardian.killed'");
    expect(kills[0]!['n']).toBeGreaterThan(0);
  });
});

describe('the feed', () => {
  it('shows what happened, oldest first, and follows', async () => {
    const { stdout } = await shell.run(['feed', '--limit', '3', '--json']);
    const seqs = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).seq);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    const child = shell.start(['feed', '--follow', '--limit', '1']);
    let seen = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (seen += chunk));
    while (!seen) await new Promise((resolve) => setTimeout(resolve, 50));
    const { checkpointId } = await (async () =>
      (await admin.post('/guardian/checkpoint', { label: 'Followed' })).body)();
    expect(checkpointId).toMatch(/^chk_/);
    while (!seen.includes('Followed')) await new Promise((resolve) => setTimeout(resolve, 50));
    const code = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGINT');
    expect(await code).toBe(130);
  });

  it('says when the connection is lost and back, and misses nothing', async () => {
    const proxy = await HostileProxy.start(test.url);
    try {
      const env = { CONSIGLIERE_BASE_URL: proxy.url };
      const child = shell.start(['feed', '--follow', '--limit', '1'], { env });
      let [told, said] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => (told += chunk));
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
      const streams = () =>
        proxy.seen.filter(({ path, isAnswered }) => isAnswered && path.endsWith('/stream')).length;
      await eventually(async () => streams() === 1);
      proxy.cut();
      await admin.post('/guardian/checkpoint', { label: 'While cut' });
      await eventually(async () => told.includes('While cut') && said.includes('The connection is back'));
      expect(said).toMatch(/^The connection is lost\.[^]*The connection is back; nothing is missing\.\n$/);
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGINT');
      expect(await ended).toBe(130);
    } finally {
      await proxy.close();
    }
  });

  it('ends with 0 when head has read enough', async () => {
    const { code, stdout, stderr } = await shell.line(
      'set -o pipefail; consigliere feed --limit 500 --json | head -n 1 | wc -l',
    );
    expect({ code, lines: stdout.trim(), stderr }).toEqual({ code: 0, lines: '1', stderr: '' });
  });
});

describe('the queue', () => {
  it('is watched: what waits, and then what joins it', async () => {
    const { approvalId } = await draft();
    const child = shell.start(['approvals', '--watch', '--capo', 'capo_ops', '--json']);
    let seen = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (seen += chunk));
    while (!seen.includes(approvalId)) await new Promise((resolve) => setTimeout(resolve, 50));
    const text = 'Email bob@acme.example, subject "Later": "Hello."';
    const document = 'Write a document "Plan": We begin on Monday.';
    const other = (await admin.post('/directive', { text: document, capo: 'ceo' })).body.approvalId;
    await eventually(async () => (await admin.get(`/approvals/${other}`)).body.ready, Boolean);
    const later = (await admin.post('/directive', { text, capo: 'capo_ops' })).body.approvalId;
    while (!seen.includes(later)) await new Promise((resolve) => setTimeout(resolve, 50));
    const lines = seen
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).approvalId);
    expect(lines).toEqual([approvalId, later]);
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    for (const id of [...lines, other]) await admin.post(`/approvals/${id}/reject`, { feedback: 'Enough.' });
  });
});

describe('bad input', () => {
  it('is one sentence with what to do, and its own exit code', async () => {
    const wrong = await shell.run(['whoami'], { env: { CONSIGLIERE_TOKEN: 'cons_wrong' } });
    expect(wrong).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('consigliere login'),
    });
    const closed = await closedAddress();
    const away = await shell.run(['whoami'], { env: { CONSIGLIERE_BASE_URL: closed } });
    expect(away).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(`${closed} cannot be reached: ECONNREFUSED[^]*\`npm start\``),
    });
    const typo = await shell.run(['aprovals']);
    expect(typo).toMatchObject({ code: 2, stderr: expect.stringContaining('(Did you mean approvals?)') });
    const json = await shell.run(['approvals', 'shw', '--json']);
    expect(json.code).toBe(2);
    expect(JSON.parse(json.stderr).error).toMatchObject({ code: 'USAGE', exitCode: 2 });
    expect(await shell.run([])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Usage: consigliere'),
    });
    expect(await shell.run(['guardian'])).toMatchObject({ code: 2, stderr: expect.stringContaining('kill') });
    const verb = await shell.run(['--json', 'guardian']);
    expect(JSON.parse(verb.stderr).error).toMatchObject({ code: 'USAGE', message: 'Name a command.' });
    for (const { stderr } of [wrong, away, typo, json]) expect(stderr).not.toMatch(/\n {4}at /);
  });

  it('is half a configuration file, or one of something else', async () => {
    const fresh = await Shell.of(test);
    const file = join(fresh.folder, 'config', 'config.json');
    await mkdir(join(fresh.folder, 'config'));
    for (const [text, fault] of [
      ['{"version":1,"current":"default","profi', 'is not complete JSON'],
      ['{"name":"something else"}', 'is not a configuration of consigliere'],
      ['null', 'is not a configuration of consigliere'],
      ['{"version":7,"current":"x","profiles":{}}', 'is of version 7'],
    ] as const) {
      await writeFile(file, text);
      const { code, stderr } = await fresh.run(['whoami']);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`${file} ${fault}`) });
      expect(stderr.trim().split('\n')).toHaveLength(2);
      const login = await fresh.run(['login', '--with-token'], { input: admin.token });
      expect(login.code).toBe(1);
      expect(await readFile(file, 'utf8')).toBe(text);
    }
    const environment = { CONSIGLIERE_TOKEN: admin.token };
    expect((await fresh.run(['whoami'], { env: environment })).code).toBe(0);
  });
});
