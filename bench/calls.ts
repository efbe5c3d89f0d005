import { setTimeout as pause } from 'node:timers/promises';

let address = 0;

/** Calls the service as one member, from a new address each time: the limits count, and let everyone pass. */
export async function call<T>(url: string, token: string, body?: unknown): Promise<T> {
  const next = address++;
  const answer = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'x-service-token': token,
      'x-forwarded-for': `10.${200 + ((next >> 16) & 31)}.${(next >> 8) & 255}.${next & 255}`,
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

export function quantile(numbers: readonly number[], part: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))]!;
}
