/** Requests on their way, by what they say. */
const pending = new Map<string, Promise<Response>>();
/** The keys of requests whose answer was lost: they may have had their effect. */
const lost = new Map<string, string>();
/**
 * Stopping everything and going on may be wanted again after somebody else has undone it, and a session is renewed again and
 * again; done twice they are the same.
 */
const ALWAYS_NEW = /\/(guardian\/|operator-token$)/;

/**
 * As `fetch`, but what is pressed twice is done once: the same request, while the first is on its way, gets its answer; after
 * a lost answer it is sent with the same idempotency key, until something is done.
 */
export async function fetchOnce(url: string, init: RequestInit & { headers: Headers }): Promise<Response> {
  const { method, headers, body } = init;
  if (method !== 'POST') return fetch(url, init);
  const content = JSON.stringify([url, headers.get('If-Match'), body]);
  const first = pending.get(content);
  if (first) return (await first).clone();
  const isKept = !ALWAYS_NEW.test(url);
  const key = lost.get(content) ?? headers.get('Idempotency-Key')!;
  headers.set('Idempotency-Key', key);
  if (isKept) lost.set(content, key);
  const answer = fetch(url, init);
  pending.set(content, answer);
  try {
    const response = await answer;
    if (response.ok && isKept) lost.clear();
    // One that asks to try again later says nothing about the effect.
    else if (response.status < 500 && !response.headers.has('Retry-After')) lost.delete(content);
    return response.clone();
  } finally {
    if (pending.get(content) === answer) pending.delete(content);
  }
}

/** What one person has sent answers nothing that another one sends. */
export function forgetRequests(): void {
  pending.clear();
  lost.clear();
}

/** The second click of a double click, and Enter that is held, are no presses of their own. */
export function pressOnce(): void {
  const ignore = (event: Event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener(
    'click',
    (event) => {
      if (event.detail > 1 && event.target instanceof Element && event.target.closest('button'))
        ignore(event);
    },
    { capture: true },
  );
  addEventListener(
    'keydown',
    (event) => {
      if (event.repeat && event.key === 'Enter' && !(event.target instanceof HTMLTextAreaElement))
        ignore(event);
    },
    { capture: true },
  );
}
