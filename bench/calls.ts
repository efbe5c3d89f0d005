import { setTimeout as pause } from 'node:timers/promises';

let address = 0;

function newAddress(): string {
  const next = address++;
  return `10.${200 + ((next >> 16) & 31)}.${(next >> 8) & 255}.${next & 255}`;
}

/** Calls the service as one member, from a new address each time unless said: the limits count, and let everyone pass. */
export async function call<T>(url: string, token: string, body?: unknown, from = newAddress()): Promise<T> {
  const answer = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'x-service-token': token,
      'x-forwarded-for': from,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as T;
}

/** Milliseconds of each of `count` acts, one after the other. */
export async function timed(count: number, act: (index: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    await act(index);
    times.push(performance.now() - began);
  }
  return times;
}

export async function spaced(count: number, pauseMs: number, act: () => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index++) {
    await act();
    await pause(pauseMs);
  }
}

export async function inParallel(clients: number, count: number, act: () => Promise<unknown>): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (left-- > 0) await act();
    }),
  );
}

/** Begins an act so many times a second, whether those before it have ended or not; ends when all have. */
export async function openLoop(
  perSecond: number,
  seconds: number,
  act: (index: number) => Promise<void>,
): Promise<void> {
  const began = performance.now();
  const underWay = new Set<Promise<unknown>>();
  const failures: unknown[] = [];
  for (let index = 0; index < perSecond * seconds && failures.length === 0; index++) {
    const waitMs = began + (index * 1000) / perSecond - performance.now();
    if (waitMs > 0) await pause(waitMs);
    const one = act(index)
      .catch((error: unknown) => failures.push(error))
      .finally(() => underWay.delete(one));
    underWay.add(one);
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
}

/** Looks until it is so. */
export async function until(isSo: () => boolean, withinMs: number, what: string): Promise<void> {
  const end = performance.now() + withinMs;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`not within ${withinMs / 1000} s: ${what}`);
    await pause(20);
  }
}

export function quantile(numbers: readonly number[], part: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))]!;
}
