import system from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { AskingResolver, startDnsServer } from '../support/dns-server.js';
import { NameResolver } from '../../src/platform/outbound/name-resolver.js';

const lookup = vi.spyOn(system, 'lookup');
// What was imported by name sees the spy as well.
syncBuiltinESMExports();

afterEach(() => {
  lookup.mockReset();
});
afterAll(() => {
  lookup.mockRestore();
  syncBuiltinESMExports();
});

describe('a name that the operator chose', () => {
  it('answers every address that the system knows, its hosts file included', async () => {
    const addresses = await new NameResolver().lookUp('localhost');
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(['127.0.0.1', '::1']).toContain(address);
  });

  it('fails for a name that nobody has', async () => {
    await expect(new NameResolver().lookUp('nobody.invalid')).rejects.toThrow('nobody.invalid');
  });

  it('waits 2 s at most, and takes one thread for one hanging name, however many ask', async () => {
    lookup.mockImplementation(() => new Promise(() => undefined));
    const resolver = new NameResolver();
    const asked = await Promise.allSettled(
      Array.from({ length: 50 }, () => resolver.lookUp('hangs.example.com')),
    );
    expect(asked.every(({ status }) => status === 'rejected')).toBe(true);
    expect(lookup).toHaveBeenCalledTimes(1);
  });

  it('looks a name up anew once the last lookup is over', async () => {
    lookup.mockResolvedValueOnce([{ address: '8.8.8.8', family: 4 }] as never);
    lookup.mockResolvedValueOnce([{ address: '10.0.0.1', family: 4 }] as never);
    const resolver = new NameResolver();
    expect(await resolver.lookUp('changes.example.com')).toEqual(['8.8.8.8']);
    expect(await resolver.lookUp('changes.example.com')).toEqual(['10.0.0.1']);
  });
});

describe('a name that someone else chose', () => {
  it('has every address that DNS answers, of both families', async () => {
    const dns = await startDnsServer({
      'both.example.com': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
    });
    expect(await new AskingResolver(dns).resolve('both.example.com')).toEqual([
      '93.184.215.14',
      '2606:2800:21f:cb07:6820:80da:af6b:8b2c',
    ]);
    await dns.close();
  });

  it('fails when DNS has none', async () => {
    const dns = await startDnsServer({});
    await expect(new AskingResolver(dns).resolve('nobody.example.com')).rejects.toThrow('ENOTFOUND');
    await dns.close();
  });

  it('is given up after 2 s when no answer comes, and delays no other meanwhile', async () => {
    const dns = await startDnsServer({
      'silent.example.com': 'silence',
      'prompt.example.com': ['93.184.215.14'],
    });
    const resolver = new AskingResolver(dns);
    let waiting = true;
    const silent = Promise.allSettled(
      Array.from({ length: 20 }, () => resolver.resolve('silent.example.com')),
    ).finally(() => (waiting = false));
    expect(await resolver.resolve('prompt.example.com')).toEqual(['93.184.215.14']);
    expect(waiting).toBe(true);
    expect((await silent).every(({ status }) => status === 'rejected')).toBe(true);
    await dns.close();
  });
});
