import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Response } from 'express';
import type { AdmittedRequest } from '../../platform/http/admitted-request.js';
import type { Caller } from '../../platform/auth/caller.js';
import { Callers } from '../../platform/auth/callers.js';
import { presentedToken } from '../../platform/auth/presented-token.js';
import { RateLimited, Unavailable } from '../../platform/kernel/errors.js';
import { Readiness } from '../../platform/observability/health.controller.js';
import { FeedStream } from './feed-stream.js';
import { ReceiptChains } from './receipt-chains.repository.js';
import { ReceiptLog } from './receipt-log.repository.js';

const LOOK_EVERY_MS = 500;
/** In each process. No member can take all that a workspace has. */
const AT_MOST = { workspace: 20, member: 5 };

/**
 * The open streams of the feed. While anyone in a workspace listens, one look at its head every half second serves
 * all of them; only when it has moved does each read what it may see. The same half second is how often each token is
 * asked about, so that a revoked one is cut within the second of CONTRACT section 5, Tokens.
 */
@Injectable()
export class FeedStreams implements OnModuleDestroy {
  readonly #streams = new Map<string, Set<FeedStream>>();

  constructor(
    private readonly log: ReceiptLog,
    private readonly chains: ReceiptChains,
    private readonly callers: Callers,
    private readonly readiness: Readiness,
  ) {
    readiness.closing.addEventListener('abort', () => this.onModuleDestroy(), { once: true });
  }

  /**
   * Streams to `response` from behind receipt `after`, or from now on, until someone ends it.
   * @throws RateLimited when the member or the workspace has its streams already, Unavailable while the process ends
   */
  async open(request: AdmittedRequest, response: Response, after: number | undefined): Promise<void> {
    const caller = request.caller!;
    const identify = () => this.callers.identify(presentedToken(request));
    const stream = new FeedStream(caller, identify, this.log, response);
    this.admit(caller, stream);
    response.once('close', () => this.release(caller.workspaceId, stream));
    const head = await this.chains.headSeq(caller.workspaceId);
    if (this.readiness.closing.aborted) throw new Unavailable({ reason: 'draining', retryAfterSeconds: 1 });
    if (response.closed) return;
    // A number from the future would wait for it in silence; there is nothing behind it to lose.
    stream.begin(Math.min(after ?? head, head));
    if (request.method === 'HEAD') stream.end();
    await stream.advance(head);
  }

  /** Ends every stream: its clients come back, to a process that stays. */
  onModuleDestroy(): void {
    for (const streams of this.#streams.values()) for (const stream of streams) stream.end();
  }

  private admit({ workspaceId, memberId }: Caller, stream: FeedStream): void {
    const streams = this.#streams.get(workspaceId);
    const own = [...(streams ?? [])].filter((other) => other.memberId === memberId).length;
    if (own >= AT_MOST.member) throw tooManyStreams('member');
    if (streams === undefined) {
      const first = new Set([stream]);
      this.#streams.set(workspaceId, first);
      this.lookSoon(workspaceId, first);
    } else if (streams.size < AT_MOST.workspace) {
      streams.add(stream);
    } else {
      throw tooManyStreams('workspace');
    }
  }

  private release(workspaceId: string, stream: FeedStream): void {
    const streams = this.#streams.get(workspaceId);
    streams?.delete(stream);
    if (streams?.size === 0) this.#streams.delete(workspaceId);
  }

  private lookSoon(workspaceId: string, streams: Set<FeedStream>): void {
    setTimeout(() => void this.look(workspaceId, streams), LOOK_EVERY_MS).unref();
  }

  private async look(workspaceId: string, streams: Set<FeedStream>): Promise<void> {
    // The last of these readers has left; later readers have begun a set of their own.
    if (this.#streams.get(workspaceId) !== streams) return;
    for (const stream of streams) void stream.recheck();
    // While the database is away there is nothing new to be had; the next look follows.
    const head = await this.chains.headSeq(workspaceId).catch(() => 0);
    for (const stream of streams) void stream.advance(head);
    this.lookSoon(workspaceId, streams);
  }
}

function tooManyStreams(whose: keyof typeof AT_MOST) {
  const limit = AT_MOST[whose];
  return new RateLimited({
    message: `A ${whose} may have ${limit} streams open at a time.`,
    retryAfterSeconds: 15,
    details: { policy: `feed-streams-${whose}`, limit, windowSeconds: 0 },
  });
}
