import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Service, type ServiceProcess, startService } from '../../support/processes.js';
import { eventually } from '../../support/test-app.js';

/** Until another process has taken up a request or a signal, which it shows nobody. */
const NOTICED_MS = 200;

describe('SIGTERM', () => {
  let service: Service;
  let process: ServiceProcess;
  beforeEach(async () => {
    service = await startService(1, { PROCESS_ROLE: 'api', RATE_LIMIT_STORE: 'memory' });
    process = service.processes[0]!;
  }, 60_000);
  afterEach(() => service.close());

  const handIn = (text: string) => service.client(process).post('/directive', { text });

  /** As the process counts them. */
  const openSockets = async () => {
    const metrics = await (await fetch(`${process.url}/metrics`)).text();
    return Number(/^nodejs_active_resources\{type="TCPSocketWrap"\} (\d+)$/m.exec(metrics)?.[1]);
  };

  it('fails none of 200 requests in flight', { timeout: 60_000 }, async () => {
    await handIn('warm');
    // Held at their end, so that all of them are in flight when the signal comes.
    const blocker = await service.database.owner.connect();
    await blocker.query('begin');
    await blocker.query('select 1 from receipt_heads where workspace_id = $1 for update', [
      service.workspaceId,
    ]);
    let answered = 0;
    const requests = Array.from({ length: 200 }, (_, index) =>
      handIn(`Drain ${index}`).finally(() => answered++),
    );
    await eventually(
      () =>
        service.rows(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        ),
      (waiting) => waiting.length >= 8,
    );
    await eventually(openSockets, (open) => open >= 200);
    expect(answered).toBe(0);
    const stopped = process.stop();
    await sleep(NOTICED_MS);
    await blocker.query('rollback');
    blocker.release();
    const answers = await Promise.all(requests);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(await stopped).toBe(0);
    expect((await service.rows(`select 1 from directives where text like 'Drain %'`)).length).toBe(200);
    expect(process.errors).toBe('');
  });

  it('ends a stream and a wait at once, in good order', { timeout: 30_000 }, async () => {
    const { approvalId } = (await handIn('Wait for me')).body;
    const wait = service.client(process).get(`/approvals/${approvalId}?wait=30`);
    const { address, token, url } = service.client(process);
    const stream = await fetch(`${url}/api/pro/feed/stream`, {
      headers: { 'x-service-token': token!, 'X-Forwarded-For': address },
    });
    expect(stream.status).toBe(200);
    const streamed = stream.text();
    await sleep(NOTICED_MS);
    const stopped = process.stop();
    expect((await wait).status).toBe(200);
    expect((await wait).body).toMatchObject({ approvalId, ready: false });
    expect(await streamed).toContain('retry:');
    expect(await stopped).toBe(0);
  });
});
