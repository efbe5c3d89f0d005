import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
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

/** Longer than any test may take. */
const WITHOUT_END = '600';
/** A request with this header leaves behind a promise that fails, as a defect would. */
const DEFECT = `data:text/javascript,${encodeURIComponent(`
  import { ServerResponse } from 'node:http';
  const end = ServerResponse.prototype.end;
  ServerResponse.prototype.end = function (...given) {
    if (this.req.headers['x-defect']) Promise.reject(new Error('a defect'));
    return end.apply(this, given);
  };`)}`;

describe('a process with work in flight', () => {
  let service: Service;
  let process: ServiceProcess;
  let receiver: EventReceiver;
  /** Lets the receiver answer what it has got so far. */
  let answer: () => void;
  beforeEach(async () => {
    receiver = await startEventReceiver((_received, response) => (answer = () => response.end()));
    service = await startService(1, {
      RATE_LIMIT_STORE: 'memory',
      OUTBOUND_ALLOW: receiver.hostPort,
      DRAIN_SECONDS: WITHOUT_END,
      NODE_OPTIONS: `--import=${DEFECT}`,
    });
    process = service.processes[0]!;
    const destination = { event: 'report.daily', url: receiver.url, secret: 'a secret of Acme 2026' };
    const { destinationId } = (await owner().post('/webhooks', destination)).body;
    expect((await owner().post(`/webhooks/${destinationId}/test`)).status).toBe(202);
    await eventually(async () => receiver.received.length === 1);
  }, 60_000);
  afterEach(async () => {
    await service.close();
    await receiver.close();
  });

  const owner = () => service.client(process);
  const ready = async () => (await fetch(`${process.url}/health/ready`)).status;
  const listens = () =>
    fetch(`${process.url}/health/live`).then(
      () => true,
      () => false,
    );
  const delivered = async () =>
    (await service.rows<{ status: string }>('select status from webhook_deliveries'))[0]!.status;

  it(
    'is not ready after SIGTERM but serves until DRAIN_SECONDS end or a second signal comes, and claims nothing more',
    { timeout: 60_000 },
    async () => {
      const { address, token, url } = owner();
      const stream = await fetch(`${url}/api/pro/feed/stream`, {
        headers: { 'x-service-token': token!, 'X-Forwarded-For': address },
      });
      const streamed = stream.text();
      expect(await ready()).toBe(200);
      // As npm does, which passes on what systemd has sent to every process of the service.
      process.signal('SIGTERM');
      process.signal('SIGTERM');
      await eventually(ready, (status) => status === 503);
      const { status, body } = await owner().post('/directive', { text: 'File a memo: after the signal.' });
      expect(status).toBe(201);
      // Two sweeps for due work, and more than the time in which a signal counts as passed on.
      await sleep(2_500);
      const claimed = await service.rows('select kind from work_items where claimed');
      expect(claimed.length).toBe(1);
      expect((await owner().get(`/approvals/${body.approvalId}`)).body).toMatchObject({ ready: false });
      expect((await fetch(`${process.url}/health/live`)).status).toBe(200);
      expect(await ready()).toBe(503);

      const stopped = process.stop();
      expect(await streamed).toContain('directive.created');
      await eventually(listens, (does) => !does);
      answer();
      expect(await stopped).toBe(0);
      expect(await delivered()).toBe('delivered');
    },
  );

  it(
    'ends with 1 after an error that nobody caught, and logs the request, but not before its work has ended',
    { timeout: 60_000 },
    async () => {
      const failed = await fetch(`${process.url}/docs`, { headers: { 'x-defect': '1' } });
      await eventually(listens, (does) => !does);
      expect(process.exited).toBe(false);
      expect(await delivered()).toBe('pending');
      answer();
      await eventually(delivered, (status) => status === 'delivered');
      expect(await process.stop()).toBe(1);
      const faults = process.logs.filter(({ level }) => level === 'error');
      expect(faults).toMatchObject([
        { err: { message: 'a defect' }, requestId: failed.headers.get('x-request-id') },
      ]);
    },
  );
});
