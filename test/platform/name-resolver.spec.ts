import { lookup } from 'node:dns/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NameResolver } from '../../src/platform/outbound/name-resolver.js';

vi.mock(import('node:dns/promises'), { spy: true });
const system = vi.mocked(lookup);

afterEach(() => {
  system.mockReset();
});

describe('NameResolver', () => {
  it('answers every address that the system knows, its hosts file included', async () => {
    const addresses = await new NameResolver().resolve('localhost');
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(['127.0.0.1', '::1']).toContain(address);
  });

  it('fails for a name that nobody has', async () => {
    await expect(new NameResolver().resolve('nobody.invalid')).rejects.toThrow('nobody.invalid');
  });

  it('waits 2 s at most, and takes one thread for one hanging name, however many ask', async () => {
    system.mockImplementation(() => new Promise(() => undefined));
    const resolver = new NameResolver();
    const started = performance.now();
    const asked = await Promise.allSettled(
      Array.from({ length: 50 }, () => resolver.resolve('hangs.example.com')),
    );
    expect(asked.every(({ status }) => status === 'rejected')).toBe(true);
    expect(performance.now() - started).toBeGreaterThanOrEqual(1_990);
    expect(performance.now() - started).toBeLessThan(4_000);
    expect(system).toHaveBeenCalledTimes(1);
  });

  it('looks a name up anew once the last lookup is over', async () => {
    system.mockResolvedValueOnce([{ address: '8.8.8.8', family: 4 }] as never);
    system.mockResolvedValueOnce([{ address: '10.0.0.1', family: 4 }] as never);
    const resolver = new NameResolver();
    expect(await resolver.resolve('changes.example.com')).toEqual(['8.8.8.8']);
    expect(await resolver.resolve('changes.example.com')).toEqual(['10.0.0.1']);
  });
});
