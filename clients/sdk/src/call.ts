/** What may be said about one call besides its parameters. */
export interface CallOptions {
  /** The content hash that was read (`contentHash`), where a change has to name it (CONTRACT, section 5, Approval). */
  ifMatch?: string;
  /**
   * Names a change, so that it has its effect once however often it is sent within 24 hours (CONTRACT, section 3). Each change gets
   * a name of its own unless given.
   */
  idempotencyKey?: string;
  /** How often a call is tried again that failed for a passing cause. */
  maxRetries?: number;
  /** How long one try may take, with its body, in milliseconds. */
  timeout?: number;
  /** Ends the call; its reason is what the call is rejected with. */
  signal?: AbortSignal;
  /** Further headers. */
  headers?: Record<string, string>;
}

/** The data of an answer, with the answer. */
export interface Answer<T> {
  /** What the call answers by itself. */
  data: T;
  /** The answer with its status and headers; its body has been read. */
  response: Response;
  /** Names the request; quote it when you ask for support. */
  requestId: string | null;
}

/** What a list holds. */
export type ItemOf<T> = T extends { items: (infer Item)[] } ? Item : never;

type Next<T> = (cursor: Record<string, unknown>) => Call<T>;

/**
 * A call that has begun: a promise of its data. A list can be iterated over, which reads further pages as they are needed:
 * `for await (const directive of client.directives.list())`.
 */
export class Call<T> extends Promise<T> {
  readonly #answer: Promise<Answer<T>>;
  readonly #next: Next<T>;

  /** What `then` answers is a promise like any other. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  constructor(answer: Promise<Answer<T>>, next: Next<T>) {
    super((resolve, reject) => void answer.then(({ data }) => resolve(data), reject));
    this.#answer = answer;
    this.#next = next;
  }

  /** The data with the answer that brought it. */
  withResponse(): Promise<Answer<T>> {
    // By way of this promise: nobody else would hear of its rejection, which ends a program.
    return this.then(() => this.#answer);
  }

  /** The pages of a list, from this one on. */
  async *pages(): AsyncGenerator<T, void, undefined> {
    for (let page: T = await this; ;) {
      yield page;
      const { nextCursor, nextBefore } = page as { nextCursor?: string | null; nextBefore?: number | null };
      const cursor = nextCursor
        ? { cursor: nextCursor, offset: undefined }
        : nextBefore
          ? { before: nextBefore }
          : undefined;
      if (!cursor) return;
      page = await this.#next(cursor);
    }
  }

  /** The items of a list, from this page on (CONTRACT, section 1, Lists). */
  async *[Symbol.asyncIterator](): AsyncGenerator<ItemOf<T>, void, undefined> {
    for await (const page of this.pages()) yield* (page as { items: ItemOf<T>[] }).items;
  }

  /** The items of a list, at most so many; no page more than these need is read. */
  async toArray({ limit = Infinity }: { limit?: number } = {}): Promise<ItemOf<T>[]> {
    const items: ItemOf<T>[] = [];
    if (limit <= 0) return items;
    for await (const item of this) if (items.push(item) >= limit) break;
    return items;
  }
}
