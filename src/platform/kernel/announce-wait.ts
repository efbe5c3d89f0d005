const FIRST_AFTER_MS = 2_000;
const THEN_EVERY_MS = 10_000;

/** Says what is being waited for, first after two seconds and then every ten, until `work` ends; it does not bound it. */
export async function announceWait<T>(
  what: string,
  log: (message: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  const begun = performance.now();
  let timer: NodeJS.Timeout;
  const say = () => {
    log(`Waiting for ${what} (${Math.round((performance.now() - begun) / 1000)} s so far).`);
    timer = setTimeout(say, THEN_EVERY_MS);
  };
  timer = setTimeout(say, FIRST_AFTER_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
