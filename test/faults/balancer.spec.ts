import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Service, startService } from '../support/processes.js';
import { eventually } from '../support/test-app.js';

describe('a balancer that looks once a second', () => {
  let service: Service;
  beforeEach(async () => {
    service = await startService(2, { RATE_LIMIT_STORE: 'memory', PROCESS_ROLE: 'api', DRAIN_SECONDS: '3' });
  }, 60_000);
  afterEach(() => service.close());

  it('has no request refused while a process ends behind it', { timeout: 60_000 }, async () => {
    let healthy = [...service.processes];
    const look = async () => {
      const answers = await Promise.all(
        service.processes.map(({ url }) =>
          fetch(`${url}/health/ready`).then(
            ({ ok }) => ok,
            () => false,
          ),
        ),
      );
      healthy = service.processes.filter((_, index) => answers[index]);
    };
    const looking = setInterval(() => void look(), 1_000);
    const outcomes: number[] = [];
    let next = 0;
    let enough = false;
    const load = Array.from({ length: 4 }, async () => {
      while (!enough) {
        const target = healthy[next++ % healthy.length]!;
        const client = service.client(target);
        outcomes.push(
          await client.get('/directives').then(
            ({ status }) => status,
            () => 0,
          ),
        );
      }
    });
    await eventually(async () => outcomes.length > 20);
    expect(await service.processes[0]!.stop()).toBe(0);
    enough = true;
    clearInterval(looking);
    await Promise.all(load);
    expect(new Set(outcomes)).toEqual(new Set([200]));
    expect(healthy.length).toBe(1);
  });
});
